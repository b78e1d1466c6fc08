package security

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
)

// SEC18: the hub listens on HUB_ADDR and the edge on EDGE_ADDR, and neither anywhere else: no NATS port, no debugging port.
func TestNothingListensBesidesTheTwoAddresses(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	edge := r.AddEdge("laptop", map[string]string{"worker": r.TestAgent("--act", "forever")})
	device := r.Device("a", r.HubURL())
	seen := device.Watch()
	seen.UntilConnected(1)
	run := device.Run(device.Group("demo", "worker"), "@worker go")
	seen.UntilEvents(run, 1)
	hubPort := portOf(t, strings.TrimPrefix(r.HubURL(), "http://"))
	if got := listening(t, r.Hub().PID()); !slices.Equal(got, []int{hubPort}) {
		t.Errorf("the hub listens on ports %v, want only %d", got, hubPort)
	}
	if got, want := listening(t, edge.Process().PID()), portOf(t, edge.Addr); !slices.Equal(got, []int{want}) {
		t.Errorf("the edge listens on ports %v, want only %d", got, want)
	}
}

func TestAListenerIsFoundOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got, want := listening(t, os.Getpid()), portOf(t, l.Addr().String()); !slices.Contains(got, want) {
		t.Errorf("found ports %v, want %d among them", got, want)
	}
}

func portOf(t *testing.T, addr string) int {
	t.Helper()
	_, text, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// listening returns the TCP ports on which a process listens, ascending.
func listening(t *testing.T, pid int) (ports []int) {
	t.Helper()
	mine := socketsOf(t, pid)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			// local_address is field 1, st 3 (0A is LISTEN), inode 9.
			fields := strings.Fields(line)
			if len(fields) < 10 || fields[3] != "0A" || !mine[fields[9]] {
				continue
			}
			_, hex, _ := strings.Cut(fields[1], ":")
			port, err := strconv.ParseInt(hex, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			ports = append(ports, int(port))
		}
	}
	slices.Sort(ports)
	return ports
}

// socketsOf returns the inodes of a process's sockets.
func socketsOf(t *testing.T, pid int) map[string]bool {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	inodes := map[string]bool{}
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err != nil {
			continue // it was closed meanwhile
		}
		if inode, ok := strings.CutPrefix(target, "socket:["); ok {
			inodes[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return inodes
}
