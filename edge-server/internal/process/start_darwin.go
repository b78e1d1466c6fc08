package process

import "os/exec"

// startRestricted starts cmd. macOS can set limits only from inside the new process, and has no no_new_privs.
func startRestricted(cmd *exec.Cmd, _ Limits) error { return cmd.Start() }
