package process

import (
	"os"
	"syscall"
)

// entry is one line of the operating system's process table.
type entry struct {
	pid, ppid, pgid, sid int
	start                uint64 // time of the start, in a unit of the system; only compared
	zombie               bool
}

// tree finds what one start has become: agents start tools in sessions of their own, daemons leave their parents, and each of the marks
// (descent, process group, session, nonce in the environment) survives some of that. The control group survives all of it, where there is one, and
// the nonce in the limits all but a process that takes it off.
type tree struct {
	leader entry // zero when only the nonce is known
	nonce  Nonce
	group  group
}

// look returns the members of the tree that are still running, and whether the tree is gone: nothing of it runs, in sight or out of it.
func (t tree) look() (alive []entry, gone bool, err error) {
	all, err := processTable()
	if err != nil {
		return nil, false, err
	}
	// After the table: whatever is named here and there is a member now, though its pid may have been another's a moment ago.
	grouped := t.group.members()
	for _, e := range t.members(all, func(pid int) bool { return grouped[pid] || carries(pid, t.nonce) }) {
		if !e.zombie {
			alive = append(alive, e)
		}
	}
	return alive, len(alive) == 0 && !t.group.populated(), nil
}

// members closes the tree over its marks. What began before the leader is no member, whatever it looks like; neither is the edge itself.
func (t tree) members(all []entry, marked func(pid int) bool) []entry {
	pids, groups, sessions := map[int]bool{}, map[int]bool{}, map[int]bool{}
	if t.leader.pid != 0 {
		pids[t.leader.pid], groups[t.leader.pid], sessions[t.leader.pid] = true, true, true
	}
	var found []entry
	add := func(e entry) {
		found = append(found, e)
		pids[e.pid], groups[e.pgid], sessions[e.sid] = true, true, true
	}
	rest := t.candidates(all)
	for i, e := range rest {
		if e.pid == t.leader.pid || marked(e.pid) {
			add(e)
			rest[i].pid = 0
		}
	}
	for grown := true; grown; {
		grown = false
		for i, e := range rest {
			if e.pid != 0 && (pids[e.ppid] || groups[e.pgid] || sessions[e.sid]) {
				add(e)
				rest[i].pid, grown = 0, true
			}
		}
	}
	return found
}

func (t tree) candidates(all []entry) []entry {
	self := lookup(os.Getpid())
	var rest []entry
	for _, e := range all {
		// The edge's own session holds no agent: each agent begins a new one, and nobody can join an old one.
		if e.pid > 1 && e.pid != self.pid && e.sid != self.sid && e.start >= t.leader.start {
			rest = append(rest, e)
		}
	}
	return rest
}

// term asks, kill does not. Groups are signalled as a whole: that reaches a fork bomb at one instant.
func (t tree) term(members []entry) { t.signal(members, syscall.SIGTERM) }
func (t tree) kill(members []entry) {
	t.group.kill()
	t.signal(members, syscall.SIGKILL)
}

func (t tree) signal(members []entry, sig syscall.Signal) {
	if t.leader.pid != 0 {
		signalOne(-t.leader.pid, sig)
	}
	for _, e := range members {
		if t.leader.pid == 0 || e.pgid != t.leader.pid {
			signalOne(e.pid, sig)
		}
	}
}

// signalOne ignores what has ended in the meantime. What we may not signal shows as still alive in the next look at the table.
func signalOne(pid int, sig syscall.Signal) {
	_ = syscall.Kill(pid, sig)
}
