package process

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const stateZombie = 5 // SZOMB of sys/proc.h

// processTable returns the processes of this user.
func processTable() ([]entry, error) {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil, fmt.Errorf("read process table: %w", err)
	}
	all := make([]entry, 0, len(procs))
	for i := range procs {
		all = append(all, entryOf(&procs[i]))
	}
	return all, nil
}

// lookup returns the entry of one process, or the zero entry if there is none.
func lookup(pid int) entry {
	proc, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return entry{}
	}
	return entryOf(proc)
}

func entryOf(p *unix.KinfoProc) entry {
	pid := int(p.Proc.P_pid)
	sid, err := unix.Getsid(pid)
	if err != nil {
		sid = 0
	}
	started := p.Proc.P_starttime
	return entry{
		pid: pid, ppid: int(p.Eproc.Ppid), pgid: int(p.Eproc.Pgid), sid: sid,
		start: uint64(started.Sec)*1_000_000 + uint64(started.Usec), zombie: p.Proc.P_stat == stateZombie,
	}
}

// carries says whether a process has the nonce in its environment, which kern.procargs2 shows behind the arguments.
// There is no second mark: macOS shows the limits of a process to nobody else.
func carries(pid int, nonce Nonce) bool {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return false
	}
	return bytes.Contains(raw, []byte("\x00"+NonceVariable+"="+string(nonce)+"\x00"))
}
