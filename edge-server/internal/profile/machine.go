package profile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// onThisMachine warns about what the profile names and edge does not have. It may still come: a checkout, an installation.
func (r *reader) onThisMachine(edge Edge) {
	p := &r.profile
	launch := p.Launch(Turn{}, edge)
	for _, warning := range launch.Warnings {
		r.problems.warn(r.seen["env"], "%s", warning)
	}
	if launch.Dir != "" && !varies(p.Cwd) && !isFolder(launch.Dir) {
		r.problems.warn(r.seen["cwd"], "cwd %s is no folder of this machine", launch.Dir)
	}
	if varies(p.Command) || slices.Contains(Executors(), p.Executor) {
		return
	}
	if complaint := launch.lookFor(launch.Argv[0], varies(p.Cwd), edge); complaint != "" {
		r.problems.warn(r.seen["command"], "command %s %s", launch.Argv[0], complaint)
	}
}

// varies says whether s is another text in each conversation.
func varies(s string) bool { return strings.Contains(s, sessionID) || strings.Contains(s, sessionName) }

// lookFor says what keeps the program from being started, "" for nothing that is known.
func (l Launch) lookFor(program string, dirVaries bool, edge Edge) string {
	switch {
	case !strings.Contains(program, "/"):
		if !slices.ContainsFunc(l.searched(edge), func(dir string) bool { return unusable(filepath.Join(dir, program)) == "" }) {
			return "is a program in no folder of PATH"
		}
		return ""
	case filepath.IsAbs(program):
		return unusable(program)
	case l.Dir == "":
		return "is looked for in the agent's own folder, which begins empty: write " + profileDir + "/" + strings.TrimPrefix(program, "./")
	case dirVaries:
		return ""
	}
	return unusable(filepath.Join(l.Dir, program))
}

// searched is where a bare name is looked for. Relative folders are not: they would be the agent's own.
func (l Launch) searched(edge Edge) []string {
	path, own := l.Env["PATH"]
	if !own {
		path, _ = edge.Lookup("PATH")
	}
	return slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
}

func unusable(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "cannot be used: " + path + ": " + bare(err).Error()
	case !info.Mode().IsRegular():
		return "cannot be used: " + path + " is no file"
	case info.Mode()&0o111 == 0:
		return "cannot be used: " + path + " is not executable"
	}
	return ""
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
