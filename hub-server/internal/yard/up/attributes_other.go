//go:build unix && !linux

package up

import "syscall"

// attributes keep a Ctrl-C from the servers, which are stopped in order.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
