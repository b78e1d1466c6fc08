package mcptools_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/events"
	"github.com/switchyard-dev/switchyard/edge-server/internal/workspace"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// played is what came of a turn.
type played struct {
	said []run.AgentEvent
	log  string // the edge's own
	at   bridge.MCP
}

// spied remembers what the agent was told.
type spied struct {
	runtime.ToolServer
	at *bridge.MCP
}

func (s spied) Offer(r id.Run, tools []wire.ClientTool, call runtime.ClientCall) (bridge.MCP, func()) {
	at, withdraw := s.ToolServer.Offer(r, tools, call)
	*s.at = at
	return at, withdraw
}

// turn plays one turn of an agent that is told words, and answers its call with answer, which may stop the run instead.
func turn(t *testing.T, answer func(p event.PromptRequestedPayload, process admission.Process, stop func()), words ...string) (p played) {
	t.Helper()
	var logged bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	agent := profile.Profile{
		Name: "test", Runtime: profile.Events, Command: os.Args[0], Args: append([]string{"agent"}, words...), Grace: time.Second, Streaming: true,
		Dir: t.TempDir(), Env: map[string]string{"GORACE": "atexit_sleep_ms=0"}, PublicEnv: []string{"GORACE"},
	}
	host := process.NewHost(logger, process.DefaultLimits())
	executor := runtime.NewExecutor(runtime.Options{
		Host: host, Profiles: profile.Of(agent), Adapters: map[profile.Runtime]runtime.Adapter{profile.Events: events.Adapter{}},
		Workspaces: workspace.NewStore(filepath.Join(t.TempDir(), "workspaces")), Tools: spied{endpoint(t), &p.at},
		Edge: profile.Edge{Program: os.Args[0], Lookup: os.LookupEnv}, Log: logger, Metrics: telemetry.NewRegistry("test"),
	})
	job := admission.Job{
		Run: id.NewRun(), Session: id.NewSession(), Agent: id.NewAgent(), Profile: "test", Prompt: "hello", Nonce: admission.Nonce(process.NewNonce()),
		ClientTools: []wire.ClientTool{{Name: "open_url"}},
	}
	started, err := executor.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var clients sync.WaitGroup
	exit := started.Follow(ctx, func(e run.AgentEvent) error {
		p.said = append(p.said, e)
		if asked, ok := e.(run.Asked); ok {
			clients.Go(func() { answer(asked.PromptRequestedPayload, started, stop) })
		}
		return nil
	})
	clients.Wait()
	if err := host.Sweep(t.Context(), process.Nonce(job.Nonce)); err != nil || !exit.Gone {
		t.Errorf("gone %v, %v", exit.Gone, err)
	}
	p.log = logged.String()
	return p
}

func opens(p event.PromptRequestedPayload, process admission.Process, _ func()) {
	deliver, err := process.Answer(wire.Answer{
		RequestID: p.RequestID, Kind: p.Kind, Decision: event.Allow, Digest: p.Digest, Response: []byte(`{"status":"ok","output":"It is open."}`),
	})
	if err != nil {
		panic(err)
	}
	deliver()
}

// words is what happened, one word for each event that matters.
func words(said []run.AgentEvent) string {
	var all []string
	for _, e := range said {
		switch e := e.(type) {
		case run.ToolCall:
			all = append(all, "call:"+e.Name+":"+string(e.Target)+":"+string(e.Args))
		case run.Asked:
			all = append(all, "asks:"+string(e.Asks)+":"+string(e.Input))
		case run.ToolResult:
			all = append(all, "result:"+string(e.Result))
		case run.Delta:
			all = append(all, "text:"+e.Text)
		case run.Delivered:
			all = append(all, "delivered")
		case run.Done, run.Failure:
			all = append(all, fmt.Sprintf("%T", e))
		}
	}
	return strings.Join(all, " ")
}

func TestAnAgentThatKnowsOnlyMCPCallsTheToolOfAClient(t *testing.T) {
	p := turn(t, opens)
	const want = `call:open_url:client:{"url":"x"} asks:client:{"url":"x"} result:"It is open." delivered text:It is open. run.Done`
	if got := words(p.said); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, e := range p.said {
		call, ok := e.(run.ToolCall)
		if ok && !strings.HasPrefix(call.ID, "call_") {
			t.Errorf("the call has the id %q", call.ID)
		}
	}
}

func TestTheTokenOfARunIsInNoLog(t *testing.T) {
	p := turn(t, opens, "printing")
	all := p.log
	for _, e := range p.said {
		all += fmt.Sprintf("%+v", e)
		if fact, ok := e.(run.Fact); ok {
			payload, err := event.Encode(fact.Payload)
			if err != nil {
				t.Fatal(err)
			}
			all += string(payload)
		}
	}
	token := strings.TrimPrefix(p.at.Headers["Authorization"], "Bearer ")
	if strings.Contains(all, token) || strings.Count(all, "[redacted]") != 2 { // it was printed on stdout and on stderr
		t.Errorf("%s", all)
	}
}

func TestARunThatIsStoppedEndsItsCallsAndItsTools(t *testing.T) {
	p := turn(t, func(_ event.PromptRequestedPayload, _ admission.Process, stop func()) { stop() })
	if got := words(p.said); !strings.HasPrefix(got, `call:open_url:client:{"url":"x"} asks:client:{"url":"x"}`) || strings.Contains(got, "result:") {
		t.Errorf("got %s", got)
	}
	if status := post(t, p.at); status != http.StatusUnauthorized {
		t.Errorf("after the end of the run its token gets %d", status)
	}
}
