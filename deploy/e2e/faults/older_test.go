package faults

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// olderHub is the last commit whose hubs do not know Redis and speak to one another over NATS alone.
const olderHub = "615118e7f59541e6a6eb2a0e0cdc49f237ac5230"

// Hubs are updated one after the other. Meanwhile one of the version before and one of this work on one store: edge and devices are at either,
// a login that ends at one is known at the other, and either takes over when the other is killed.
func TestAHubOfAnOlderVersionAndThisOneServeOneStory(t *testing.T) {
	t.Parallel()
	program, err := rig.OlderHub(t.TempDir(), olderHub)
	if errors.Is(err, rig.ErrNoHistory) {
		t.Skipf("optional: needs the sources of an older version: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := newSeveralWith(t, program)
	if strings.Contains(s.metrics(s.second.URL), "switchyard_hub_redis_up") {
		t.Fatal("positive control: the second hub is not of the older version")
	}
	s.work("--events", "120", "--rate", "80", "--tools")
	hubs, addrs := s.hubURLs(), s.hubAddrs()
	var turns []turn
	watchers := []*rig.Recorder{s.Device("watches one", hubs[0]).Watch(), s.Device("watches two", hubs[1]).Watch()}
	for edgeAt := range hubs {
		s.Proxy.Retarget(addrs[edgeAt])
		s.Proxy.Cut()
		for askAt, url := range hubs {
			s.MoveOwner(url)
			s.Eventually("the edge is online", func() bool { return s.seesOnline(s.Owner()) })
			prompt := fmt.Sprintf("edge at %d, asked at %d", edgeAt, askAt)
			session := s.Owner().Group(prompt, worker)
			next := turn{s.Owner().Run(session, "@"+worker+" "+prompt), prompt}
			for _, w := range watchers {
				w.UntilSettled(next.run)
			}
			turns = append(turns, next)
		}
	}
	for _, at := range hubs {
		s.MoveOwner(at)
		for _, connected := range hubs {
			d := s.connect(connected)
			s.revoke(d)
			if took := s.untilClosed(d); took > closedOnOthers {
				t.Errorf("a login that ended at %s was closed after %s at %s", at, took, connected)
			}
		}
	}
	turns = append(turns, s.takeOvers(hubs, addrs)...)
	s.MoveOwner(hubs[0])
	ended, events, _ := s.examine(turns)
	if ended[event.RunCompleted] != len(turns) {
		t.Errorf("runs ended as %v", ended)
	}
	watchers[0].Check()
	figure(t, "versions side by side", "%d runs, %d events, 4 logins ended, each of the two killed once", len(turns), events)
}

// takeOvers kills each hub in the middle of a run whose edge is there, and lets the other one go on with it.
func (s *several) takeOvers(hubs, addrs []string) (turns []turn) {
	s.t.Helper()
	for i, hub := range s.hubProcesses() {
		other := (i + 1) % len(hubs)
		s.MoveOwner(hubs[other])
		s.Proxy.Retarget(addrs[i])
		s.Proxy.Cut()
		s.Eventually("the edge is online", func() bool { return s.seesOnline(s.Owner()) })
		prompt := "begun at " + hub.name
		watcher := s.Device("watches", hubs[other]).Watch()
		next := turn{s.Owner().Run(s.Owner().Group(prompt, worker), "@"+worker+" "+prompt), prompt}
		watcher.UntilEvents(next.run, 20)
		hub.kill()
		s.Proxy.Retarget(addrs[other])
		s.Proxy.Cut()
		watcher.UntilSettled(next.run)
		watcher.Check()
		hub.start()
		turns = append(turns, next)
	}
	return turns
}
