package rig

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Workspaces is where the agents of an edge work, unless their profile says otherwise.
func Workspaces(home string) string { return filepath.Join(home, "workspaces") + "/" }

// ProcessesOf returns the processes whose environment names folder: agents work in a folder of their edge, and are told so. There is no
// other trace of those whose edge was killed. Systems without /proc have none.
func ProcessesOf(folder string) []int {
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil // the pattern is a constant
	}
	var found []int
	for _, file := range environs {
		environ, err := os.ReadFile(file)
		pid, isNumber := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && isNumber == nil && pid != os.Getpid() && bytes.Contains(environ, []byte("="+folder)) {
			found = append(found, pid)
		}
	}
	return found
}

// EndProcessesOf ends them.
func EndProcessesOf(folder string) {
	for _, pid := range ProcessesOf(folder) {
		syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may have ended by now
	}
}
