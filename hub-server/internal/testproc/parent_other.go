//go:build unix && !linux

package testproc

import "syscall"

// endWithParent does nothing here: only Linux ties the life of a child to its parent's.
func endWithParent(*syscall.SysProcAttr) {}
