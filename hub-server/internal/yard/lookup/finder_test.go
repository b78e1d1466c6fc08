package lookup

import (
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/testhub"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestThingsAreFoundByIDByItsBeginningAndByName(t *testing.T) {
	things := []thing{{"sess_0190aaaa-1", "demo"}, {"sess_0190bbbb-2", "ops"}, {"sess_0190bbcc-3", "ops"}, {"sess_4711", "0190b"}}
	for _, c := range []struct {
		ref  string
		want int
		err  error
	}{
		{"sess_0190aaaa-1", 0, nil},
		{"demo", 0, nil},
		{"sess_0190a", 0, nil},
		{"0190bbb", 1, nil},
		{"0190b", 3, nil}, // a name goes before the beginning of an id
		{"ops", -1, ErrMany},
		{"sess_0190bb", -1, ErrMany},
		{"019", -1, ErrNone}, // too short to be meant as an id
		{"sess_", -1, ErrNone},
		{"nothing", -1, ErrNone},
		{"", -1, ErrNone},
	} {
		if got, err := pick(kind{"conversation", "yard sessions"}, c.ref, things); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%q: %d, %v, want %d, %v", c.ref, got, err, c.want, c.err)
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	k := kind{"run", "yard runs"}
	_, err := pick(k, "abcd", nil)
	if err == nil || err.Error() != "no run \"abcd\"; `yard runs` lists them" {
		t.Errorf("error %v", err)
	}
	_, err = pick(k, "aaaa", []thing{{"run_aaaa1", ""}, {"run_aaaa2", ""}})
	if err == nil || err.Error() != `"aaaa" may be any of 2 runs; say which: run_aaaa1 run_aaaa2` {
		t.Errorf("error %v", err)
	}
}

func TestOfTwoAgentsWithOneNameTheOneThatICanOperateIsMeant(t *testing.T) {
	agents := []client.Agent{{ID: "agent_1", Name: "scout"}, {ID: "agent_2", Name: "scout", CanOperate: true}, {ID: "agent_3", Name: "chat"}}
	for ref, want := range map[string]string{"scout": "agent_2", "@scout": "agent_2", "agent_1": "agent_1", "@chat": "agent_3"} {
		if got, err := AgentNamed(agents, ref); err != nil || got.ID != want {
			t.Errorf("%s: %s, %v, want %s", ref, got.ID, err, want)
		}
	}
	agents[0].CanOperate = true
	if _, err := AgentNamed(agents, "scout"); !errors.Is(err, ErrMany) {
		t.Errorf("two that I can operate: %v", err)
	}
}

func TestEverythingOnAHubIsFound(t *testing.T) {
	h := testhub.New(t)
	run := client.AgentTask{ID: "run_9f2c1b7ad0e44c55"}
	h.Tasks = []client.AgentTask{run, {ID: "run_aaaaaaaaaaaaaaaa"}}
	h.Artifacts[run.ID] = []client.Artifact{{ID: "art_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55", RunID: run.ID, Filename: "report.md"}}
	h.Sessions = []client.Session{{ID: "sess_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55", Name: "demo"}}
	h.Devices = []client.Device{{ID: "dev_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55", Name: "a@laptop"}}
	c, err := client.New(client.Options{Hub: h.URL, Keeper: client.NewMemoryKeeper(client.Credentials{
		AccessToken: "access x", RefreshToken: "refresh x", ExpiresAt: time.Now().Add(time.Hour),
	})})
	if err != nil {
		t.Fatal(err)
	}
	f := New(c.API())
	find := map[string]func(ref string) (string, error){
		"run":      func(ref string) (string, error) { r, err := f.Run(t.Context(), ref); return r.ID, err },
		"artifact": func(ref string) (string, error) { a, err := f.Artifact(t.Context(), ref); return a.ID, err },
		"session":  func(ref string) (string, error) { s, err := f.Session(t.Context(), ref); return s.ID, err },
		"device":   func(ref string) (string, error) { d, err := f.Device(t.Context(), ref); return d.ID, err },
		"agent":    func(ref string) (string, error) { a, err := f.Agent(t.Context(), ref); return a.ID, err },
		"edge":     func(ref string) (string, error) { e, err := f.Edge(t.Context(), ref); return e.ID, err },
	}
	for _, step := range []struct{ kind, ref, want string }{
		{"run", run.ID, run.ID},
		{"run", "9f2c", run.ID},
		{"artifact", "art_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55", "art_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55"},
		{"artifact", "report.md", "art_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55"},
		{"session", "demo", h.Sessions[0].ID},
		{"session", "sess_0190", h.Sessions[0].ID},
		{"session", h.Sessions[0].ID, h.Sessions[0].ID},
		{"device", "a@laptop", h.Devices[0].ID},
		{"agent", "@scout", h.Agents[0].ID},
		{"edge", "laptop", h.Edges[0].ID},
	} {
		if got, err := find[step.kind](step.ref); err != nil || got != step.want {
			t.Errorf("%s %s: %q, %v", step.kind, step.ref, got, err)
		}
		if _, err := find[step.kind]("nothing"); !errors.Is(err, ErrNone) {
			t.Errorf("%s nothing: %v", step.kind, err)
		}
	}
	if _, err := f.Run(t.Context(), "run_0000000000000000"); client.CodeOf(err) != client.ProblemCodeNotFound {
		t.Errorf("a run that is not there: %v", err)
	}
}
