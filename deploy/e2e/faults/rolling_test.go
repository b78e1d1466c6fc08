package faults

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/nemesis"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// The figures of promise P19.
const (
	rolls         = 3
	rollClients   = 500
	backWithin    = 3 * time.Second // p99 of the time for which a client is cut off
	personDevices = 400             // of one person, who may have 500
)

// P19. Both hubs are restarted one after the other, three times, under clients that watch a run. Every client sees every event of it.
func TestARollingRestartLosesNothingAndClientsAreBackSoon(t *testing.T) {
	effort := effortOf(t)
	full := effort.Time >= nemesis.Full
	if !full { // otherwise it has the machine to itself, since it goes by the time
		t.Parallel()
	}
	s := newSeveral(t)
	s.work("--events", "100000", "--rate", "10")
	session, people, clients := s.crowdOf(min(rollClients, effort.Of(rollClients)))
	run := s.Owner().Run(session, "@"+worker+" go on until you are stopped")
	clients[0].UntilEvents(run, 10)
	for range rolls {
		for _, hub := range s.hubProcesses() {
			hub.stop()
			hub.start()
			s.Eventually("everybody is back", func() bool {
				return !slices.ContainsFunc(clients, func(r *rig.Recorder) bool { return !r.Connected() })
			})
		}
	}
	s.seeToTheEnd(run, people, clients)
	var outages []time.Duration
	for _, c := range clients {
		outages = append(outages, c.Outages()...)
	}
	slices.Sort(outages)
	if len(outages) < rolls*len(clients) { // positive control: each restart of the two cuts off everybody who was there
		t.Fatalf("%d clients were cut off %d times in %d rolling restarts: nobody was tried", len(clients), len(outages), rolls)
	}
	p99 := outages[len(outages)*99/100]
	figure(t, "P19", "%d rolling restarts, %d clients, cut off %d times, for %s in the middle, %s p99, %s at most", rolls, len(clients), len(outages),
		show(outages[len(outages)/2]), show(p99), show(outages[len(outages)-1]))
	if full && p99 > backWithin {
		t.Errorf("p99 of the time for which a client is cut off is %s, want at most %s", p99, backWithin)
	}
}

// crowdOf brings clients of several people, all of whom are in one conversation with the worker. All are connected.
func (s *several) crowdOf(n int) (session string, people []*rig.Device, clients []*rig.Recorder) {
	s.t.Helper()
	people = []*rig.Device{s.Owner()}
	members := []string{s.Owner().AgentID(worker)}
	for i := personDevices; i < n; i += personDevices {
		d, user := s.Invite(fmt.Sprintf("person-%d", i/personDevices))
		people, members = append(people, d), append(members, user)
	}
	made, err := client.Decode[client.Session](s.Owner().API().CreateGroupSession(s.t.Context(),
		&client.CreateGroupSessionParams{IdempotencyKey: uuid.NewString()}, client.GroupSessionInput{Name: "all", MemberIds: members}))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := range n {
		clients = append(clients, people[i/personDevices].Another(fmt.Sprintf("client %d", i), s.Proxy.URL()).Watch())
	}
	for _, c := range clients {
		c.UntilConnected(1)
	}
	return made.ID, people, clients
}

// seeToTheEnd stops the run and checks that every client has seen all of its log, as its person may read it, in order and without a reset.
func (s *several) seeToTheEnd(run id.Run, people []*rig.Device, clients []*rig.Recorder) {
	s.t.Helper()
	if _, err := client.Decode[client.AgentTask](s.Owner().API().CancelAgentTask(s.t.Context(), string(run), client.CancelInput{})); err != nil {
		s.t.Fatalf("cancel: %v", err)
	}
	s.Owner().UntilState(run, client.RunStateCancelled)
	log := s.Owner().Log(run)
	s.truth.MustBePrefix("go on until you are stopped", log)
	digests := make([]string, len(people))
	for i, person := range people {
		digests[i] = client.LogDigest(person.Log(run))
	}
	for i, c := range clients {
		c.UntilEvents(run, len(log))
		c.Check()
		if got, want := c.Digest(run), digests[i/personDevices]; got != want {
			s.t.Errorf("client %d saw the log as %s, it is %s", i, got, want)
		}
	}
	s.t.Logf("every one of %d clients has seen %d events", len(clients), len(log))
}
