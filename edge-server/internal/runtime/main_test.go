package runtime_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/bridge"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/events"
	"github.com/switchyard-dev/switchyard/edge-server/internal/workspace"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// TestMain lets the test binary play the agents.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "agent" {
		os.Exit(playAgent(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "builtin" {
		os.Exit(0) // a built-in agent that ends at once; without this the tests would start themselves without end
	}
	goleak.VerifyTestMain(m)
}

// playAgent reads its turn, then takes the steps one after the other: say:LINE, stderr:LINE, big:BYTES, read (a line of stdin, which it says
// as a thing of its own on stderr), hear (a line of stdin, which it says as text), drain (stdin to its end), ignore-term, on-term:LINE, hang, kill, exit:CODE. LINE has the turn for $TURN
// a NUL byte for $NUL and the line that was read last for $HEARD.
func playAgent(steps []string) int {
	in := bufio.NewReader(os.Stdin)
	turn, err := in.ReadString('\n')
	if err != nil {
		return 99
	}
	signals, term := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR2) // a program that waits for nothing at all is stopped as a deadlock
	if strings.Contains(strings.Join(steps, "\n"), "on-term:") {
		signal.Notify(term, syscall.SIGTERM) // before it says anything that may bring the signal
	}
	var line string
	for _, step := range steps {
		what, arg, _ := strings.Cut(step, ":")
		arg = strings.NewReplacer("$TURN", strings.TrimSpace(turn), "$NUL", "\x00", "$HEARD", strings.TrimSpace(line)).Replace(arg)
		switch what {
		case "say":
			fmt.Println(arg)
		case "stderr":
			fmt.Fprintln(os.Stderr, arg)
		case "big":
			var size int
			fmt.Sscan(arg, &size)
			fmt.Println(strings.Repeat("x", size))
		case "read":
			line, _ = in.ReadString('\n')
			fmt.Fprintln(os.Stderr, "read "+strings.TrimSpace(line))
		case "hear":
			line, _ = in.ReadString('\n')
			text, _ := event.Encode(strings.TrimSpace(line))
			fmt.Printf(`{"type":"partial","text":%s}`+"\n", text)
		case "drain":
			_, _ = io.Copy(io.Discard, in)
		case "write":
			name, content, _ := strings.Cut(arg, "=")
			_ = os.WriteFile(name, []byte(content), 0o600)
		case "environment":
			fmt.Fprintln(os.Stderr, os.Getenv(arg))
		case "ignore-term":
			signal.Ignore(syscall.SIGTERM)
		case "on-term":
			<-term
			fmt.Println(arg)
		case "hang":
			<-signals
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			<-signals // it takes a moment
		case "exit":
			var code int
			fmt.Sscan(arg, &code)
			return code
		}
	}
	return 0
}

// bench is an executor with one profile, and what it needs.
type bench struct {
	profile profile.Profile
	library *profile.Library // has the profile; nil is one that never changes
	env     map[string]string
	session admission.AgentSession
	prompt  string
	files   []wire.Attachment
	manner  wire.Manner
	grants  []wire.Grant
	person  func(p event.PromptRequestedPayload, answer func(wire.Answer) error) // is asked; nil never answers
	tools   []wire.ClientTool
	client  func(p event.PromptRequestedPayload, answer func(wire.Answer) error) // is called; nil never answers
	refuse  func(run.AgentEvent) bool                                            // events that the journal does not take; nil takes all
	repo    string
	blobs   *memoryBlobs
	stopAt  string           // the turn is cancelled when the transcript ends in this line
	dir     string           // of the last run
	events  []run.AgentEvent // that it said
	host    *process.Host
}

func newBench(t *testing.T, rt profile.Runtime, steps ...string) *bench {
	t.Helper()
	return &bench{
		profile: profile.Profile{
			Name: "test", Runtime: rt, Command: os.Args[0], Args: append([]string{"agent"}, steps...),
			Grace: 50 * time.Millisecond, Streaming: true, Dir: t.TempDir(),
			Env:       map[string]string{"GORACE": "atexit_sleep_ms=0"}, // under the race detector each agent would end a second late
			PublicEnv: []string{"GORACE"},
		},
		prompt: "hello", blobs: &memoryBlobs{}, host: process.NewHost(slog.New(slog.DiscardHandler), process.DefaultLimits()),
	}
}

func (b *bench) lookup(name string) (string, bool) {
	if value, ok := b.env[name]; ok {
		return value, true
	}
	return os.LookupEnv(name)
}

func (b *bench) executor(t *testing.T) *runtime.Executor {
	t.Helper()
	library := b.library
	if library == nil {
		library = profile.Of(b.profile)
	}
	return runtime.NewExecutor(runtime.Options{
		Host: b.host, Profiles: library,
		Adapters:   map[profile.Runtime]runtime.Adapter{profile.Bridge: bridge.Adapter{}, profile.Events: events.Adapter{}},
		Workspaces: workspace.NewStore(filepath.Join(t.TempDir(), "workspaces")), Repository: b.repo, Blobs: b.blobs,
		Edge: profile.Edge{Program: os.Args[0], Lookup: b.lookup}, Secrets: []string{"sye_of-the-edge"},
		Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("test"),
	})
}

func (b *bench) job() admission.Job {
	return admission.Job{
		Run: id.NewRun(), Session: id.NewSession(), SessionName: "demo", Agent: id.NewAgent(), Profile: string(b.profile.Name),
		Prompt: b.prompt, Attachments: b.files, Manner: b.manner, ClientTools: b.tools, Grants: b.grants, AgentSession: b.session, Nonce: admission.Nonce(process.NewNonce()),
	}
}

// transcript is what a run said, one line per event.
type transcript struct {
	lines     []string
	delivered []string // these lines apart: they come at some time after their answer
	asked     []event.PromptRequestedPayload
	exit      admission.Exit
	answer    func(wire.Answer) error // to a prompt of the agent, which has ended
}

// outcome is the event by which the run would end if the agent has not said how.
func (tr transcript) outcome(t *testing.T) string {
	t.Helper()
	last := run.New(run.Options{}).Close(tr.exit.Outcome)
	payload, err := last[len(last)-1].Encode()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %s", last[len(last)-1].Type, payload)
}

func (b *bench) play(t *testing.T) transcript {
	t.Helper()
	return b.playJob(t, b.job())
}

func (b *bench) playJob(t *testing.T, job admission.Job) transcript {
	t.Helper()
	p, err := b.executor(t).Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	b.dir = p.WorkDir()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	tr := transcript{answer: answering(p)}
	var people sync.WaitGroup // answers come from elsewhere
	tr.exit = p.Follow(ctx, func(e run.AgentEvent) error {
		if b.refuse != nil && b.refuse(e) {
			return errors.New("no room")
		}
		line := describe(e)
		b.events = append(b.events, e)
		if _, ok := e.(run.Delivered); ok {
			tr.delivered = append(tr.delivered, line)
		} else {
			tr.lines = append(tr.lines, line)
		}
		if asked, ok := e.(run.Asked); ok {
			tr.asked = append(tr.asked, asked.PromptRequestedPayload)
			if asks := map[event.Decider]func(event.PromptRequestedPayload, func(wire.Answer) error){
				event.Person: b.person, event.Client: b.client,
			}[asked.Asks]; asks != nil {
				people.Go(func() { asks(asked.PromptRequestedPayload, tr.answer) })
			}
		}
		if b.stopAt != "" && line == b.stopAt {
			stop()
		}
		return nil
	})
	people.Wait()
	if err := b.host.Sweep(t.Context(), process.Nonce(job.Nonce)); err != nil {
		t.Error(err)
	}
	return tr
}

// answering returns what a person does: the answer is recorded, which is nothing here, and delivered.
func answering(p admission.Process) func(wire.Answer) error {
	return func(a wire.Answer) error {
		deliver, err := p.Answer(a)
		if err == nil {
			deliver()
		}
		return err
	}
}

// describe names what happens in a sub-agent first, and marks the end of a message.
func describe(e run.AgentEvent) string {
	scope := event.SubAgent("")
	last := ""
	switch e := e.(type) {
	case run.Delta:
		scope = e.Agent
		if e.Last {
			last = "|"
		}
	case run.ToolCall:
		scope = e.Agent
	case run.ToolResult:
		scope = e.Agent
	case run.Artifact:
		scope = e.AgentID
	case run.Asked:
		scope = e.AgentID
	}
	if scope != "" {
		scope += ": "
	}
	return string(scope) + describeAlone(e) + last
}

func describeAlone(e run.AgentEvent) string {
	switch e := e.(type) {
	case run.Delta:
		if e.Channel == run.Thought {
			return "thought " + e.Text + map[bool]string{true: " (apart)"}[e.Apart]
		}
		if e.Channel == run.ToolInput {
			return strings.TrimSuffix("input "+e.Call+" "+e.Text+" "+e.Tool, " ")
		}
		if e.Channel == run.ToolOutput {
			return "output " + e.Call + " " + e.Text
		}
		return "text " + e.Text
	case run.ToolCall:
		return fmt.Sprintf("%scall %s %s %s", e.Target, e.ID, e.Name, e.Args)
	case run.ToolResult:
		if e.Error != nil {
			said := fmt.Sprintf("%sfailed %s %s %s %s", e.Target, e.ID, e.Name, e.Error.Code, e.Error.Type)
			return strings.TrimSpace(strings.TrimSpace(said) + " " + e.Error.UserMessage)
		}
		return fmt.Sprintf("%sresult %s %s %s", e.Target, e.ID, e.Name, e.Result)
	case run.Artifact:
		return fmt.Sprintf("artifact %s %s %d", e.Filename, e.ContentType, e.Size)
	case run.StateChange:
		return "state " + e.State
	case run.Asked:
		return fmt.Sprintf("asks %s %s %s %s", e.Asks, e.AgentRequestID, e.ToolName, e.Input)
	case run.Decided:
		return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.By, e.Policy, e.Decision, e.UpdatedInput))
	case run.Delivered:
		return "delivered " + string(e.Decision)
	case run.Done:
		return "done " + e.Answer
	case run.Failure:
		return fmt.Sprintf("failure %s: %s", e.Code, e.Message)
	case run.Fact:
		payload, _ := event.Encode(e.Payload)
		return fmt.Sprintf("fact %s %s", e.Type, payload)
	}
	return fmt.Sprintf("unknown %T", e)
}

// written is the content of a file that the agent left in its directory.
func (b *bench) written(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// memoryBlobs keeps blobs for a test to look at.
type memoryBlobs struct {
	mu    sync.Mutex
	blobs map[string][]byte
}

func (m *memoryBlobs) PutBlob(r io.Reader) (event.BlobRef, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return event.BlobRef{}, err
	}
	if bytes.HasPrefix(data, []byte("refuse")) {
		return event.BlobRef{}, fault.New(fault.TooLarge, "Too large.")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blobs == nil {
		m.blobs = map[string][]byte{}
	}
	ref := event.BlobRef{SHA256: event.TextChecksum(string(data)), Size: int64(len(data))}
	m.blobs[ref.SHA256] = data
	return ref, nil
}
