package process

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// markedLimit carries a number that is made from the nonce. A resource limit is inherited by whatever a process forks and executes, whatever
// environment, session and parent that has, and a process can only change it by asking for just that. This one bounds how many microseconds
// a realtime thread may run without a pause, and what is set here are more than a hundred thousand years.
const markedLimit = unix.RLIMIT_RTTIME

// mark returns the value of the limit: 60 bits of the nonce, above anything that somebody would set. It is false for a nonce that is none.
func (n Nonce) mark() (uint64, bool) {
	if !n.valid() {
		return 0, false
	}
	const digits, base = 15, uint64(1) << 62
	bits, err := strconv.ParseUint(string(n[:digits]), 16, 64)
	return base | bits, err == nil
}

// markByLimit marks a process and what it will fork. The hard limit stays: where somebody has set one, the mark does not fit below it.
func markByLimit(pid int, nonce Nonce) error {
	value, ok := nonce.mark()
	if !ok {
		return nil
	}
	var now unix.Rlimit
	if err := unix.Prlimit(pid, markedLimit, nil, &now); err != nil {
		return gone(fmt.Errorf("read a limit to mark: %w", err))
	}
	now.Cur = value
	if err := unix.Prlimit(pid, markedLimit, &now, nil); err != nil {
		return gone(fmt.Errorf("mark by a limit below %d: %w", now.Max, err))
	}
	return nil
}

// markedByLimit says whether a process has the mark. Those of other users, which the kernel does not show, have none.
func markedByLimit(pid int, nonce Nonce) bool {
	value, ok := nonce.mark()
	var now unix.Rlimit
	return ok && unix.Prlimit(pid, markedLimit, nil, &now) == nil && now.Cur == value
}
