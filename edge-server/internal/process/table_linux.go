package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processTable returns every process that /proc shows. What ends while it is read is left out.
func processTable() ([]entry, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("read process table: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("read process table: %w", err)
	}
	var all []entry
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if e := lookup(pid); e.pid != 0 {
			all = append(all, e)
		}
	}
	return all, nil
}

// lookup returns the entry of one process, or the zero entry if there is none.
func lookup(pid int) entry {
	var buf [maxStat]byte
	n := readAtOnce("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	e, ok := parseStat(string(buf[:n]))
	if !ok {
		return entry{}
	}
	return e
}

// maxStat is more than a line of stat can have: 52 numbers and a name of 16 bytes, or of 64 for a worker of the kernel.
const maxStat = 2048

// readAtOnce reads the beginning of a file of /proc and returns how much there was. A table of hundreds of processes is read for every agent
// that ends, and an os.File takes three times as many system calls.
func readAtOnce(path string, into []byte) int {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	n, err := unix.Read(fd, into)
	_ = unix.Close(fd) // nothing was written
	if err != nil {
		return 0
	}
	return n
}

// parseStat reads proc_pid_stat(5). The second field is the command's name in parentheses and may itself hold spaces and parentheses.
func parseStat(stat string) (entry, bool) {
	head, rest, ok := cutLast(stat, ")")
	fields := strings.Fields(rest)
	const startTime = 19 // field 22 of the line, counted from the state
	if !ok || len(fields) <= startTime {
		return entry{}, false
	}
	pidText, _, _ := strings.Cut(head, " ")
	var e entry
	numbers := []struct {
		text string
		into *int
	}{{pidText, &e.pid}, {fields[1], &e.ppid}, {fields[2], &e.pgid}, {fields[3], &e.sid}}
	for _, n := range numbers {
		v, err := strconv.Atoi(n.text)
		if err != nil {
			return entry{}, false
		}
		*n.into = v
	}
	start, err := strconv.ParseUint(fields[startTime], 10, 64)
	if err != nil {
		return entry{}, false
	}
	e.start = start
	e.zombie = fields[0] == "Z" || fields[0] == "X"
	return e, true
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// carries says whether a process has the nonce in a limit or in its environment. Those of other users, which we may not read, do not.
func carries(pid int, nonce Nonce) bool {
	if markedByLimit(pid, nonce) {
		return true
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false
	}
	return bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+NonceVariable+"="+string(nonce)+"\x00"))
}
