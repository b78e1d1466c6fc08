package testproc

import "syscall"

// endWithParent has the kernel stop the server at once when the test binary dies without stopping it (a panic, a
// time limit): PostgreSQL takes SIGQUIT as "immediate shutdown", others end by it.
func endWithParent(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGQUIT }
