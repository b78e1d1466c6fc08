package up

import "syscall"

// attributes keep a Ctrl-C from the servers, which are stopped in order, and end them when this process is killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
