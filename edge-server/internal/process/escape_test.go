package process

import (
	"fmt"
	"os/exec"
	"syscall"
)

// playEscape leaves a process behind that has no parent, a session of its own, an empty environment and no file of ours: fork, setsid, fork,
// setsid, execve. Its pid is what is printed.
func playEscape(part string) {
	switch part {
	case "escape":
		again("escape-session")
		waitChildren()
		forever()
	case "take-limit-off":
		takeLimitOff()
		playEscape("escape-and-end")
	case "escape-and-end":
		again("escape-session")
		waitChildren()
	case "escape-session":
		cmd := exec.Command("/bin/sleep", "4321")
		cmd.Env = []string{}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		fmt.Println(cmd.Process.Pid)
	}
}

// takeLimitOff removes the mark of Linux, which no program does by accident.
func takeLimitOff() {
	const rttime = 15 // RLIMIT_RTTIME
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(rttime, &limit); err != nil {
		panic(err)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(rttime, &limit); err != nil {
		panic(err)
	}
}
