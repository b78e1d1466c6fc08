package process

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// groups makes the control groups of one Host: below the group that this process is in, a folder named after the process, and in it one folder
// per start, named after its nonce. That is where a later process looks for what this one left behind. Where the system lets this process
// make no groups, each start gets the zero group, and the log says so once. Safe for concurrent use.
type groups struct {
	log     *slog.Logger
	tasks   uint64 // limit of processes and threads of a group; 0 is none
	owner   string // name of this process's folder
	unified hierarchy
	pids    hierarchy
	refused sync.Once

	mu sync.Mutex // held while folders are made or removed
}

// ownerPrefix begins the name of a process's folder; pid and start time follow.
const ownerPrefix = "switchyard-"

func newGroups(log *slog.Logger, tasks uint64) *groups {
	self := lookup(os.Getpid())
	unified, pids := findHierarchies()
	return &groups{log: log, tasks: tasks, owner: fmt.Sprintf("%s%d-%d", ownerPrefix, self.pid, self.start), unified: unified, pids: pids}
}

// open makes the group of a start.
func (g *groups) open(nonce Nonce) group {
	if !nonce.valid() {
		return group{}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var made group
	var err error
	if made.unified, err = g.make(g.unified, nonce); err != nil {
		g.refuse(err)
	}
	// Moving a process costs the kernel some milliseconds, so this is for its one purpose, and where nothing else serves it.
	if g.tasks > 0 && !counts(made.unified) {
		if made.pids, err = g.make(g.pids, nonce); err != nil {
			g.refuse(err)
		}
	}
	return made
}

// counts says whether the group in folder limits its processes.
func counts(folder string) bool {
	if folder == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(folder, pidsMax))
	return err == nil
}

// pidsMax is the file that holds the limit.
const pidsMax = "pids.max"

// refuse says, once, that agents have to be followed by their other marks alone.
func (g *groups) refuse(err error) {
	g.refused.Do(func() { g.log.Info("agents run without a control group, or with a part of one", "reason", err) })
}

func (g *groups) make(in hierarchy, nonce Nonce) (string, error) {
	if in.here == "" {
		return "", nil
	}
	parent := filepath.Join(in.here, g.owner)
	if err := mkdir(parent); err != nil {
		return "", err
	}
	for _, dir := range []string{in.here, parent} {
		// Hands the controller down. A group with processes in it may not, unless it is the topmost; version 1 has no such file and needs none.
		_ = set(dir, "cgroup.subtree_control", "+pids")
	}
	folder := filepath.Join(parent, string(nonce))
	if err := mkdir(folder); err != nil {
		return "", err
	}
	if g.tasks > 0 {
		// There is no such file where another hierarchy does the counting, or none.
		_ = set(folder, pidsMax, strconv.FormatUint(g.tasks, 10))
	}
	return folder, nil
}

// mkdir makes a group that may be there already.
func mkdir(folder string) error {
	if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // groups are for all to see
		return err
	}
	return nil
}

// close removes the group of a start that is over, and this process's folder with the last one.
func (g *groups) close(done group) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := done.remove(); err != nil {
		g.log.Warn("cannot remove a control group", "error", err)
	}
	for _, folder := range []string{done.unified, done.pids} {
		if folder != "" {
			// Refused while other starts have theirs in it.
			_ = os.Remove(filepath.Dir(folder))
		}
	}
}

// find returns the group of a start, whichever process made it. The process before this one may have run in another place of the hierarchy: a
// desktop gives every terminal a group of its own.
func (g *groups) find(nonce Nonce) group {
	var found group
	for _, part := range []struct {
		in   hierarchy
		into *string
	}{{g.unified, &found.unified}, {g.pids, &found.pids}} {
		part.in.owners(func(folder string) {
			if info, err := os.Stat(filepath.Join(folder, string(nonce))); err == nil && info.IsDir() {
				*part.into = filepath.Join(folder, string(nonce))
			}
		})
	}
	return found
}

// tidy removes the empty groups of processes that have ended.
func (g *groups) tidy() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, in := range []hierarchy{g.unified, g.pids} {
		in.owners(func(folder string) {
			if !ownerLives(filepath.Base(folder)) {
				// Refused for groups that are not empty, which their nonce leads to, and for those of other users.
				_ = group{unified: folder}.remove()
			}
		})
	}
}

// owners calls visit for the folder of every process that has groups in the hierarchy.
func (h hierarchy) owners(visit func(folder string)) {
	if h.here == "" {
		return
	}
	// What cannot be looked into is nothing of this user's.
	_ = filepath.WalkDir(h.mount, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ownerPrefix) {
			visit(path)
			return fs.SkipDir
		}
		return nil
	})
}

// ownerLives says whether the process that a folder is named after still runs.
func ownerLives(name string) bool {
	pidText, startText, _ := strings.Cut(strings.TrimPrefix(name, ownerPrefix), "-")
	pid, err := strconv.Atoi(pidText)
	if err != nil {
		return true // no folder of ours
	}
	start, err := strconv.ParseUint(startText, 10, 64)
	return err != nil || lookup(pid).start == start
}
