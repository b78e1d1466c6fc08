package faults

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// fewDescriptors is what the hub of TestAHubWithoutFileDescriptorsTurnsAwayAndComesBack has.
const fewDescriptors = 160

// P24. More clients come than the hub has file descriptors for, again and again, while people write and agents work.
func TestAHubWithoutFileDescriptorsTurnsAwayAndComesBack(t *testing.T) {
	t.Parallel()
	effort := effortOf(t)
	m := &machines{siege: newSiegeWith(t, rig.Options{Bin: limited(t, "hub-server", fewDescriptors)}, "--events", "100", "--rate", "100", "--tools")}
	m.letters = m.asker.Group("letters")
	people := m.persistent()
	over := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() { people.write(over) })
	hub := m.Hub().PID()
	turns := m.during(writers, func() {
		for range effort.Of(fills) {
			taken := people.told.count()
			leave := m.occupy()
			m.Eventually("turned away", func() bool { return m.status("/readyz") == http.StatusServiceUnavailable })
			m.soon("who is inside is served", func() bool { return people.told.count() > taken+2 })
			leave()
			m.soon("ready again", func() bool { return m.status("/readyz") == http.StatusOK })
		}
	})
	close(over)
	writing.Wait()
	people.examine()
	figure(t, "P24", "every connection of the hub taken %d times: %s, %s", effort.Of(fills), people, m.allCompleted(turns))
	if m.Hub().PID() != hub {
		t.Error("the hub was started again")
	}
}

// occupy opens connections that say nothing until the hub takes no more. The function that is returned closes them.
func (m *machines) occupy() (leave func()) {
	m.t.Helper()
	var all []net.Conn
	var dialer net.Dialer
	for range 2 * fewDescriptors {
		conn, err := dialer.DialContext(m.t.Context(), "tcp", m.HubURL()[len("http://"):])
		if err != nil {
			m.t.Fatal(err)
		}
		all = append(all, conn)
	}
	return func() {
		for _, conn := range all {
			conn.Close()
		}
	}
}

// P24. The edge has no file descriptors left, again and again: what it works on goes on, new work is refused with a sentence, and taken
// again afterwards.
func TestAnEdgeWithoutFileDescriptorsRefusesAndComesBack(t *testing.T) {
	t.Parallel()
	effort := effortOf(t)
	m := &machines{siege: newSiege(t, nil, "--events", "200", "--rate", "100", "--tools")}
	edge := m.edge.Process().PID()
	var turns []turn
	for n := range effort.Of(fills) {
		ask := func(when string) turn {
			prompt := fmt.Sprintf("%d, %s", n, when)
			session := m.asker.Group(prompt, worker)
			return turn{m.asker.Run(session, "@"+worker+" "+prompt), prompt}
		}
		before := ask("before")
		m.seen.UntilEvents(before.run, 5)
		restore := m.starve(edge)
		without := ask("without descriptors")
		if end := m.seen.UntilEnded(without.run); end != client.HubWebSocketFrameTypeAgentFailed {
			t.Errorf("without descriptors a run ends with %s", end)
		}
		m.seen.UntilEnded(before.run)
		restore()
		after := ask("after")
		m.seen.UntilEnded(after.run)
		turns = append(turns, before, after)
		m.turnedAway(without)
	}
	figure(t, "P24", "every file descriptor of the edge taken %d times: %s", effort.Of(fills), m.allCompleted(turns))
	if m.edge.Process().PID() != edge {
		t.Error("the edge was started again")
	}
}

// starve leaves a process the file descriptors that it has and no more.
func (m *machines) starve(pid int) (restore func()) {
	m.t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		m.t.Fatal(err)
	}
	var usual unix.Rlimit
	limit := func(next, before *unix.Rlimit) {
		if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, next, before); err != nil {
			m.t.Skipf("optional: %v", err)
		}
	}
	limit(nil, &usual)
	limit(&unix.Rlimit{Cur: uint64(len(open)), Max: usual.Max}, nil)
	return func() { limit(&usual, nil) }
}

// turnedAway fails the test unless all that happened to a run is that it failed as busy, with a sentence.
func (m *machines) turnedAway(turn turn) {
	m.t.Helper()
	log := m.Owner().Log(turn.run)
	var failed event.RunFailedPayload
	if err := json.Unmarshal(log[0].Payload, &failed); err != nil || len(log) != 1 {
		m.t.Fatalf("%s: %d events, the first %s (%v)", turn.prompt, len(log), log[0].Payload, err)
	}
	if failed.Error.Code != fault.Busy || !failed.Error.Retryable || failed.Error.Message == "" {
		m.t.Errorf("%s: it failed with %s", turn.prompt, log[0].Payload)
	}
}

// allCompleted fails the test unless every run went through and is as its agent says. It returns how much that was.
func (m *machines) allCompleted(turns []turn) string {
	m.t.Helper()
	ended, events, _ := m.examine(turns)
	if ended[event.RunCompleted] != len(turns) {
		m.t.Errorf("%d runs ended as %v", len(turns), ended)
	}
	return fmt.Sprintf("%d runs, %d events", len(turns), events)
}

// limited returns a folder of programs of which one has few file descriptors.
func limited(t *testing.T, name string, descriptors int) string {
	t.Helper()
	usual, dir := rig.Programs(t), t.TempDir()
	programs, err := os.ReadDir(usual)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if err := os.Symlink(filepath.Join(usual, p.Name()), filepath.Join(dir, p.Name())); err != nil {
			t.Fatal(err)
		}
	}
	script := fmt.Sprintf("#!/bin/sh\nulimit -n %d && exec '%s' \"$@\"\n", descriptors, filepath.Join(usual, name))
	path := filepath.Join(dir, name)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
