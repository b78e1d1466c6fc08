package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// group is the control group of one start. It is the one mark that a process cannot drop by forking, by a session of its own or by a new
// environment: whatever is born in it stays in it. The zero group has no members, and its methods do nothing.
type group struct {
	unified string // folder in cgroup2, in which the process is born; "" for none
	pids    string // folder in the hierarchy of version 1 that counts processes, into which it is moved; "" for none
}

// folders returns the group and those that the agent has made inside, in each hierarchy, outer ones first.
func (g group) folders() []string {
	var found []string
	for _, top := range []string{g.unified, g.pids} {
		if top == "" {
			continue
		}
		// What cannot be looked into has ended in the meantime.
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				found = append(found, path)
			}
			return nil
		})
	}
	return found
}

// members returns the processes that have not ended, by pid.
func (g group) members() map[int]bool {
	found := map[int]bool{}
	for _, folder := range g.folders() {
		list, err := os.ReadFile(filepath.Join(folder, "cgroup.procs"))
		if err != nil {
			continue // it has gone
		}
		for field := range strings.FieldsSeq(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				found[pid] = true
			}
		}
	}
	return found
}

// populated says whether anything is left, even what this process has no pid for.
func (g group) populated() bool {
	if g.unified != "" {
		events, err := os.ReadFile(filepath.Join(g.unified, "cgroup.events"))
		if err == nil && strings.Contains("\n"+string(events), "\npopulated 1\n") {
			return true
		}
	}
	return len(g.members()) > 0
}

// kill ends all members at one instant, forks that are under way included. Kernels before 5.14 cannot.
func (g group) kill() {
	if g.unified != "" {
		// What survives shows in the next look at the group.
		_ = set(g.unified, "cgroup.kill", "1")
	}
}

// enter moves a process into the parts of the group that it was not born in.
func (g group) enter(pid int) error {
	if g.pids == "" {
		return nil
	}
	return set(g.pids, "cgroup.procs", strconv.Itoa(pid))
}

// remove deletes the group. It must be empty.
func (g group) remove() error {
	var faults []error
	for _, folder := range slices.Backward(g.folders()) {
		if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// set writes a file that the kernel has made. One that is not there is not made.
func set(folder, name, value string) error {
	f, err := os.OpenFile(filepath.Join(folder, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
