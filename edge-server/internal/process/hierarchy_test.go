package process

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestOwnGroupIsFoundOnEveryKindOfSystem(t *testing.T) {
	const (
		unifiedOnly = "24 22 0:21 / /proc rw - proc proc rw\n" +
			"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		hybrid = "39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n" +
			"40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n" +
			"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		container = "50 40 0:30 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n" +
			"51 40 0:31 /docker/abc /sys/fs/cgroup/pids ro master:9 - cgroup cgroup rw,pids\n"
		oddName = `41 31 0:38 / /mnt/my\040groups\134here\x rw - cgroup2 none rw` + "\n"
	)
	cases := []struct {
		name, mounts, own       string
		unified, pids           string
		unifiedMount, pidsMount string
	}{
		{"cgroup2 alone", unifiedOnly, "0::/user.slice/a.scope\n", "/sys/fs/cgroup/user.slice/a.scope", "", "/sys/fs/cgroup", ""},
		{"cgroup2 in a namespace", unifiedOnly, "0::/\n", "/sys/fs/cgroup", "", "/sys/fs/cgroup", ""},
		{"hybrid", hybrid, "9:name=systemd:/\n8:pids:/x\n0::/\n", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids/x", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids"},
		{"version 1 in a container", container, "8:pids:/docker/abc/sub\n", "", "/sys/fs/cgroup/pids/sub", "", "/sys/fs/cgroup/pids"},
		{"a neighbour of what is mounted", container, "8:pids:/docker/abcd\n", "", "", "", ""},
		{"outside of the namespace", unifiedOnly, "0::/../other\n", "", "", "", ""},
		{"an odd mount point", oddName, "0::/a\n", `/mnt/my groups\here\x/a`, "", `/mnt/my groups\here\x`, ""},
		{"nothing mounted", "", "0::/a\n", "", "", "", ""},
		{"no groups", unifiedOnly, "", "", "", "", ""},
		{"lines that are none", "x\n - cgroup2\n1 2 3 4 5 - \n", "0\n::\n0::/\n", "", "", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got, want := locate(c.mounts, c.own, "cgroup2", ""), (hierarchy{c.unifiedMount, c.unified}); got != want {
				t.Errorf("cgroup2: got %+v, want %+v", got, want)
			}
			if got, want := locate(c.mounts, c.own, "cgroup", "pids"), (hierarchy{c.pidsMount, c.pids}); got != want {
				t.Errorf("pids: got %+v, want %+v", got, want)
			}
		})
	}
}

func FuzzLocateStaysBelowTheMount(f *testing.F) {
	f.Add("41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/a/b\n")
	f.Add(`41 31 0:38 /r /m\04 rw - cgroup2 cgroup2 rw`, "0::/r/../..\n")
	f.Fuzz(func(t *testing.T, mounts, own string) {
		for _, controller := range []string{"", "pids"} {
			h := locate(mounts, own, "cgroup2", controller)
			if h.here == "" {
				continue
			}
			if below, err := filepath.Rel(filepath.Clean(h.mount), h.here); err != nil || strings.HasPrefix(below, "..") {
				t.Errorf("%q is not below %q (%v)", h.here, h.mount, err)
			}
		}
	})
}
