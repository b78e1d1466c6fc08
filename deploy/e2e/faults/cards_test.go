package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// tellKills is how often the hub is killed while it tells cards.
const tellKills = 60

// P10, and traces of cards. The hub is killed at any moment while agents work and somebody reads their cards: the trace has no hole, no number means
// two events, questions are asked again in the bytes in which they were first asked, and what was told in pieces is what a hub tells that begins
// anew, from a backup.
func TestAHubThatIsKilledWhileItTellsCardsTellsEachOnceInTheSameBytes(t *testing.T) {
	t.Parallel()
	effort := effortOf(t)
	s := newStage(t)
	questions := s.wonder()
	reader := s.listen()
	kills := effort.Of(tellKills)
	random := rand.New(rand.NewPCG(effort.Seed, 3))
	turns := s.busyWhile(func() {
		for n := range kills {
			<-time.After(time.Duration(random.Int64N(int64(700 * time.Millisecond))))
			s.KillHub()
			s.StartHub()
			s.mustAskAgain(n, questions)
		}
	})
	s.settle(questions)
	whole := s.read()
	s.Eventually("the reader has everything", func() bool { return reader.knows(len(whole.lines)) })
	cuts, faults := reader.account()
	for _, fault := range append(faults, differ(reader.whole(), whole.lines)...) {
		t.Error(fault)
	}
	s.restore()
	anew := s.read()
	if anew.trace == whole.trace {
		t.Fatal("after a restore the trace is the same one: nothing was told anew")
	}
	first := anew.lines[:min(len(anew.lines), len(whole.lines))] // what comes behind is of after the restore
	for _, fault := range differ(unnamed(t, whole.lines), unnamed(t, first)) {
		t.Errorf("told anew: %s", fault)
	}
	figure(t, "P10, traces of cards", "the hub was killed %d times while %d runs were told in %d events, the reader cut off %d times",
		kills, turns+1, len(whole.lines), cuts)
	if 2*cuts < kills {
		t.Errorf("positive control: %d kills have cut the reader off %d times", kills, cuts)
	}
	for what, spoilt := range map[string][]string{
		"a hole": append(append([]string{}, whole.lines[:5]...), whole.lines[6:]...), "an end too soon": whole.lines[:len(whole.lines)-1],
	} {
		if len(differ(spoilt, whole.lines)) == 0 {
			t.Errorf("positive control: nobody notices a trace with %s", what)
		}
	}
}

// stage is a conversation with an agent that works and one that asks.
type stage struct {
	*rig.Rig
	t       *testing.T
	device  *rig.Device
	session string
	book    string // what the one that asks was allowed
	asking  id.Run
}

// asker is the agent that asks two things at once.
const asker = "asker"

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, book: filepath.Join(t.TempDir(), "book")}
	s.Rig = rig.New(t, rig.Options{Env: []string{"HUB_SOCKETS_PER_MINUTE=100000", "HUB_REQUESTS_PER_MINUTE=100000"}})
	asking := rig.Profile("bridge", s.Program("bridgeagent"), "--book", s.book, "--input", `{"n":1}`, "--input", `{"n":2}`)
	s.AddEdge(laptop, map[string]string{worker: s.TestAgent("--events", "60", "--rate", "80", "--tools"), asker: asking + "permission: true\n"})
	s.device = s.Device("reader", s.HubURL())
	s.session = s.device.Group("cards", worker, asker)
	return s
}

// wonder has the agent ask, and returns the frames of its questions as they were first sent, by request.
func (s *stage) wonder() map[string]string {
	s.t.Helper()
	s.asking = s.device.Run(s.session, "@"+asker+" go")
	s.Eventually("two questions", func() bool { return len(s.prompts()) == 2 })
	first := s.read()
	if len(first.asked) != 2 {
		s.t.Fatalf("two questions wait, asked is %q", first.asked)
	}
	return first.asked
}

func (s *stage) prompts() []client.Prompt {
	list, err := client.Decode[client.PromptList](s.device.API().ListAgentTaskPrompts(s.t.Context(), string(s.asking), &client.ListAgentTaskPromptsParams{}))
	if err != nil {
		return nil
	}
	return list.Items
}

// mustAskAgain connects anew and expects the questions, byte for byte.
func (s *stage) mustAskAgain(kill int, questions map[string]string) {
	s.t.Helper()
	got := s.read().asked
	for request, frame := range questions {
		if got[request] != frame {
			s.t.Errorf("after kill %d: %s is asked as\n%s\nfirst as\n%s", kill+1, request, got[request], frame)
		}
	}
	if len(got) != len(questions) {
		s.t.Errorf("after kill %d: %d questions are asked, want %d", kill+1, len(got), len(questions))
	}
}

// busyWhile keeps the worker busy while f works, and returns how many runs that were. The last is struck by nothing.
func (s *stage) busyWhile(f func()) (turns int) {
	s.t.Helper()
	over := make(chan struct{})
	var busy sync.WaitGroup
	busy.Go(func() {
		for calm := false; ; turns++ {
			run := s.device.Run(s.session, fmt.Sprintf("@%s turn %d", worker, turns))
			s.device.UntilState(run, client.RunStateCompleted, client.RunStateFailed, client.RunStateInterrupted)
			if calm {
				turns++
				return
			}
			select {
			case <-over:
				calm = true
			default:
			}
		}
	})
	f()
	close(over)
	busy.Wait()
	return turns
}

// settle answers the questions. The tool is used once for each.
func (s *stage) settle(questions map[string]string) {
	s.t.Helper()
	for _, p := range s.prompts() {
		_, err := client.Decode[client.Prompt](s.device.API().AnswerPrompt(s.t.Context(), p.TaskID, p.RequestID,
			client.PromptAnswerInput{Decision: client.PromptDecisionAllow, Digest: p.Digest}))
		if err != nil {
			s.t.Fatalf("answer %s: %v", p.RequestID, err)
		}
	}
	s.device.UntilState(s.asking, client.RunStateCompleted)
	if used, err := os.ReadFile(s.book); err != nil || strings.Count(string(used), "\n") != len(questions) {
		s.t.Errorf("the tool was used for %q, want %d times (%v)", used, len(questions), err)
	}
}

// restore puts a backup in the place of the store: its traces begin anew.
func (s *stage) restore() {
	s.t.Helper()
	file := filepath.Join(s.Dir, "backup")
	s.HubCommand("backup", file)
	s.KillHub()
	stores, err := filepath.Glob(filepath.Join(s.HubHome(), "hub.db*"))
	if err != nil || len(stores) == 0 {
		s.t.Fatalf("no store to lose (%v)", err)
	}
	for _, store := range stores {
		if err := os.Remove(store); err != nil {
			s.t.Fatal(err)
		}
	}
	s.HubCommand("restore", file)
	s.StartHub()
}

// differ says what is wrong with a trace that should be another one.
func differ(got, want []string) (faults []string) {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return []string{fmt.Sprintf("event %d is\n%s\nwant\n%s", i+1, got[i], want[i])}
		}
	}
	if len(got) != len(want) {
		faults = append(faults, fmt.Sprintf("%d events without a hole, want %d", len(got), len(want)))
	}
	return faults
}

// unnamed are events without what names their trace: two that tell the same are the same then.
func unnamed(t *testing.T, lines []string) []string {
	t.Helper()
	var all []string
	for _, line := range lines {
		e, err := card.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		e.Envelope.TraceID, e.Envelope.EventID = "", ""
		plain, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(plain))
	}
	return all
}

// listen starts to read, for as long as the test lasts.
func (s *stage) listen() *listener {
	s.t.Helper()
	l := &listener{lines: map[card.Seq]string{}}
	ctx, cancel := context.WithCancel(context.Background())
	var listening sync.WaitGroup
	listening.Go(func() { l.listen(ctx, s) })
	s.t.Cleanup(func() { cancel(); listening.Wait() })
	return l
}
