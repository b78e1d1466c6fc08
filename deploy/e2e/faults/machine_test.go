package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// machine is an edge-server and its folder. Its agents are shell scripts that note what they do in a file.
type machine struct {
	t       *testing.T
	hub     *hub
	home    string
	notes   string // appended to by agents
	addr    string
	program string
	process *rig.Process
}

// agentName is the one profile of a machine.
const agentName = "agent"

// newMachine enrols a machine whose agent is a script for sh. The script gets the run as $1 and the file of notes as $2.
func newMachine(t *testing.T, script string) *machine {
	t.Helper()
	m := &machine{t: t, hub: newHub(t), home: filepath.Join(t.TempDir(), "edge"), addr: rig.FreeAddr(t), program: rig.CrashingEdge(t)}
	m.notes = filepath.Join(t.TempDir(), "notes")
	t.Cleanup(func() { rig.EndProcessesOf(rig.Workspaces(m.home)) }) // after the edge has ended; there are some if the test has failed
	identity, err := json.Marshal(map[string]string{"hub_url": m.hub.http.URL, "edge_id": string(m.hub.edge), "credential": credential})
	if err != nil {
		t.Fatal(err)
	}
	m.write("edge.json", string(identity))
	if err := os.WriteFile(m.notes, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// The run travels as the name of the conversation: a profile can hand that on.
	m.write("profiles/"+agentName+".yaml", rig.Profile("bridge", "sh", "-c", script, agentName, "{{SESSION_NAME}}", m.notes)+"kill_grace_secs: 1\n")
	return m
}

// write makes a file in the machine's home.
func (m *machine) write(name, content string) {
	m.t.Helper()
	path := filepath.Join(m.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// start starts the edge and returns when it has said hello.
func (m *machine) start() {
	m.t.Helper()
	hellos := m.hub.hellos()
	m.launch()
	m.hub.until("the edge says hello", func() bool { return m.hub.welcomed > hellos })
}

// launch starts the edge with env besides what it needs.
func (m *machine) launch(env ...string) {
	m.t.Helper()
	env = append(env, "EDGE_HOME="+m.home, "EDGE_ADDR="+m.addr, "EDGE_LOG_LEVEL=error", fmt.Sprintf("EDGE_PLACES=%d", places))
	m.process = rig.Start(m.t, "edge", env, m.program)
}

// endsBefore waits until the edge has ended, or is holds, and says whether it was the first.
func (m *machine) endsBefore(is func() bool) (ended bool) {
	m.t.Helper()
	over := false // guarded by the hub's lock, as everything that until looks at
	watch := supervise.NewGroup(m.t.Context())
	watch.Go(func(ctx context.Context) error {
		select {
		case <-m.process.Ended():
			m.hub.change(func() { over = true })
		case <-ctx.Done():
		}
		return nil
	})
	m.hub.until("the edge is killed, or has nothing left to do", func() bool {
		ended = over
		return over || is()
	})
	watch.Cancel()
	if err := watch.Wait(); err != nil {
		m.t.Error(err)
	}
	return ended
}

// noted returns what agents have noted, a line each.
func (m *machine) noted() []string {
	m.t.Helper()
	notes, err := os.ReadFile(m.notes)
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.FieldsFunc(string(notes), func(r rune) bool { return r == '\n' })
}

// newOrder is the command to start a new run in a conversation of its own.
func newOrder(t *testing.T) wire.Command {
	t.Helper()
	run := id.NewRun()
	body, err := json.Marshal(wire.Dispatch{
		TaskID: run, SessionID: id.NewSession(), SessionName: string(run), AgentID: id.NewAgent(), AgentName: agentName, Profile: agentName,
		Runtime: "bridge", Prompt: "go", TraceID: strings.Repeat("0123456789abcdef", 2),
	})
	if err != nil {
		t.Fatal(err)
	}
	return wire.Command{DeliveryID: id.NewDelivery(), Kind: wire.Start, RunID: run, Lease: 1, Body: body}
}

// dispatchedAgain is another dispatch of the same run, as a hub makes when it has to find out whether the first was heard.
func dispatchedAgain(c wire.Command) wire.Command {
	c.DeliveryID = id.NewDelivery()
	c.Lease++
	return c
}
