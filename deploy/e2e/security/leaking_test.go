package security

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// haul is what went by somewhere. Safe for concurrent use.
type haul struct {
	mu   sync.Mutex
	data []byte
}

// Write takes the next bytes.
func (h *haul) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.data = append(h.data, p...)
	return len(p), nil
}

func (h *haul) bytes() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.data)
}

// leaking is a system whose agents tell every secret they have, with an ear at every place where that could be heard.
type leaking struct {
	*rig.Rig
	t      *testing.T
	edge   *rig.Edge
	device *rig.Device
	seen   *rig.Recorder
	places map[string][]byte

	uplink, bus, frames haul
}

func newLeaking(t *testing.T, secrets []canary, open core) *leaking {
	t.Helper()
	l := &leaking{t: t, places: map[string][]byte{}}
	bus := l.listenToBus()
	relay := rig.NewRelay(t, rig.Taps{
		Up: func(to io.Writer, from io.Reader) error {
			_, err := io.Copy(to, io.TeeReader(from, &l.uplink))
			return err
		},
		Body: func(b io.ReadCloser) io.ReadCloser {
			return struct {
				io.Reader
				io.Closer
			}{io.TeeReader(b, &l.uplink), b}
		},
	})
	l.Rig = rig.New(t, rig.Options{
		Env: []string{"HUB_LOG_LEVEL=debug", "HUB_NATS_URL=" + bus}, EdgeEnv: []string{"EDGE_LOG_LEVEL=debug"},
	})
	relay.SetHub(l.HubURL())
	l.Proxy.Retarget(relay.Addr())
	env := "permission: true\nenv:\n"
	for i, secret := range secrets {
		env += fmt.Sprintf("  CANARY_KEY_%02d: %q\n", i, secret)
	}
	env += fmt.Sprintf("  CANARY_PLAIN: %q\n", open) // its name does not sound like a secret's
	l.edge = l.AddEdge("laptop", map[string]string{
		"talker": l.TestAgent("--leak") + env,
		"loser":  l.TestAgent("--leak", "--fail") + env,
		"asker":  rig.Profile("bridge", l.Program("bridgeagent"), "--input", fmt.Sprintf(`{"command":%q}`, "echo "+secrets[0].String()+string(open))) + env,
	})
	l.device = l.Device("a", l.HubURL())
	l.seen = l.device.WatchWith(func(f client.HubWebSocketFrame) {
		l.frames.Write(f.Payload) //nolint:errcheck // it cannot fail
	})
	l.seen.UntilConnected(1)
	return l
}

// listenToBus starts a bus between hubs and hears everything on it.
func (l *leaking) listenToBus() (url string) {
	l.t.Helper()
	bus, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		l.t.Fatal(err)
	}
	bus.Start()
	l.t.Cleanup(func() { bus.Shutdown(); bus.WaitForShutdown() })
	if !bus.ReadyForConnections(rig.Patience) {
		l.t.Fatal("the bus did not start")
	}
	ear, err := nats.Connect(bus.ClientURL())
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(ear.Close)
	if _, err := ear.Subscribe(">", func(m *nats.Msg) {
		fmt.Fprintf(&l.bus, "%s %s\n", m.Subject, m.Data)
	}); err != nil {
		l.t.Fatal(err)
	}
	return bus.ClientURL()
}

// run lets an agent talk, answers what it asks, and gathers everything that a device can be shown of it.
func (l *leaking) run(agent string, answer client.PromptDecision) {
	l.t.Helper()
	session := l.device.Group("with "+agent, agent)
	run := l.device.Run(session, "@"+agent+" go")
	var asked client.PromptList
	l.Eventually("a question of "+agent, func() bool {
		asked, _ = client.Decode[client.PromptList](l.device.API().ListAgentTaskPrompts(l.t.Context(), string(run), &client.ListAgentTaskPromptsParams{}))
		return len(asked.Items) == 1
	})
	l.rest(agent + ": questions")(l.device.API().ListAgentTaskPrompts(l.t.Context(), string(run), &client.ListAgentTaskPromptsParams{}))
	l.rest("")(l.device.API().AnswerPrompt(l.t.Context(), string(run), asked.Items[0].RequestID,
		client.PromptAnswerInput{Decision: answer}))
	l.seen.UntilSettled(run)
	l.rest(agent + ": messages")(l.device.API().ListMessages(l.t.Context(), session, &client.ListMessagesParams{}))
	l.rest(agent + ": run")(l.device.API().GetAgentTask(l.t.Context(), string(run)))
	l.rest(agent + ": SSE")(l.device.API().FollowRunEvents(l.t.Context(), string(run), &client.FollowRunEventsParams{}, func(_ context.Context, r *http.Request) error {
		r.Header.Set("Accept", "text/event-stream")
		r.URL.RawQuery = "view=full"
		return nil
	}))
	l.logOf(agent, run)
	list, err := client.Decode[client.ArtifactList](l.device.API().ListAgentTaskArtifacts(l.t.Context(), string(run)))
	if err != nil {
		l.t.Fatal(err)
	}
	for _, a := range list.Items {
		l.rest(agent + ": artifact")(l.device.API().GetArtifactContent(l.t.Context(), a.ID))
	}
}

// logOf gathers the events of a run, and what a reader reads who puts the pieces together.
func (l *leaking) logOf(agent string, run id.Run) {
	var events, text, thought []byte
	for _, e := range l.device.Log(run) {
		events = append(events, e.Payload...)
		var delta struct{ Delta string }
		switch event.Type(e.EventType) {
		case event.MessageDelta:
			text = append(text, read(l.t, e.Payload, &delta).Delta...)
		case event.Thinking:
			thought = append(thought, read(l.t, e.Payload, &delta).Delta...)
		}
	}
	l.places[agent+": events"], l.places[agent+": text"], l.places[agent+": reasoning"] = events, text, thought
}

// rest keeps the body of an answer as what can be seen at a place.
func (l *leaking) rest(place string) func(*http.Response, error) {
	return func(resp *http.Response, err error) {
		l.t.Helper()
		if err != nil {
			l.t.Fatalf("%s: %v", place, err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode >= http.StatusBadRequest {
			l.t.Fatalf("%s: %s, %v: %s", place, resp.Status, err, body)
		}
		if place != "" {
			l.places[place] = append(l.places[place], body...)
		}
	}
}

// stop ends everything and gathers what is left of it: files, logs and traffic.
func (l *leaking) stop() {
	l.t.Helper()
	l.places["hub's files, while it runs"] = l.files(l.HubHome())
	l.places["edge's files, while it runs"] = l.files(l.edge.Home)
	l.edge.Process().Stop()
	l.Hub().Stop()
	l.places["hub's files"], l.places["edge's files"] = l.files(l.HubHome()), l.files(l.edge.Home)
	for what, p := range map[string]*rig.Process{"hub": l.Hub(), "edge": l.edge.Process()} {
		l.places[what+"'s log"] = []byte(p.Log().String() + p.Out().String())
	}
	l.places["uplink"], l.places["frames"], l.places["bus"] = l.uplink.bytes(), l.frames.bytes(), l.bus.bytes()
	for _, place := range []string{"hub's log", "edge's log", "bus"} {
		if len(l.places[place]) == 0 {
			l.t.Errorf("positive control: nothing was heard at %s", place)
		}
	}
}

// files are all bytes under a folder but those of profiles, which hold the secrets.
func (l *leaking) files(home string) (all []byte) {
	l.t.Helper()
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && entry.Name() == "profiles" {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		all = append(all, data...)
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return all
}

func read[T any](t *testing.T, payload []byte, into *T) T {
	t.Helper()
	if err := json.Unmarshal(payload, into); err != nil {
		t.Fatalf("%s: %v", payload, err)
	}
	return *into
}
