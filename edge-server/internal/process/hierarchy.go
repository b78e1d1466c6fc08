package process

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// hierarchy is a tree of control groups as this process sees it.
type hierarchy struct {
	mount string // folder of its topmost visible group
	here  string // folder of the group that this process is in; "" if the hierarchy is not there, or that group is out of sight
}

// findHierarchies returns the hierarchy of cgroup2, and the one of version 1 that counts processes. Many systems have the first alone, some
// have both (hybrid), and everything but Linux has neither.
func findHierarchies() (unified, pids hierarchy) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return unified, pids
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return unified, pids
	}
	return locate(string(mounts), string(own), "cgroup2", ""), locate(string(mounts), string(own), "cgroup", "pids")
}

// locate joins what proc_pid_mountinfo(5) says of a file system with what cgroups(7) says of this process. The controller "" is cgroup2.
func locate(mounts, own, filesystem, controller string) hierarchy {
	group, ok := groupIn(own, controller)
	if !ok {
		return hierarchy{}
	}
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		place, kind := strings.Fields(before), strings.Fields(after)
		if len(place) < 5 || len(kind) < 3 || kind[0] != filesystem || controller != "" && !listed(kind[2], controller) {
			continue
		}
		root, mount := unescape(place[3]), unescape(place[4])
		if below, ok := within(group, root); ok {
			return hierarchy{mount: mount, here: filepath.Join(mount, below)}
		}
	}
	return hierarchy{}
}

// groupIn finds the path of this process in /proc/self/cgroup, whose lines are id:controllers:path.
func groupIn(own, controller string) (path string, ok bool) {
	for line := range strings.Lines(own) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) == 3 && (fields[1] == controller || controller != "" && listed(fields[1], controller)) {
			return fields[2], true
		}
	}
	return "", false
}

// within returns path seen from root. A path that climbs out of a namespace is in no folder that we have.
func within(path, root string) (below string, ok bool) {
	if slices.Contains(strings.Split(path, "/"), "..") {
		return "", false
	}
	below, ok = strings.CutPrefix(path, strings.TrimSuffix(root, "/"))
	return below, ok && (below == "" || below[0] == '/')
}

func listed(list, name string) bool { return slices.Contains(strings.Split(list, ","), name) }

// unescape undoes what the kernel does to spaces, tabs, line ends and backslashes in a mount point: \ and three octal digits.
func unescape(path string) string {
	const digits = 3
	var b strings.Builder
	for {
		before, after, found := strings.Cut(path, `\`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		path = after
		if len(after) >= digits {
			if code, err := strconv.ParseUint(after[:digits], 8, 8); err == nil {
				b.WriteByte(byte(code))
				path = after[digits:]
				continue
			}
		}
		b.WriteByte('\\')
	}
}
