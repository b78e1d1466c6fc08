package sqlstore

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// askingStore makes this test binary a hub that is asked questions until somebody kills it; its value is an askingHub.
const askingStore = "SQLSTORE_TEST_ASK"

// askingHub is what such a process is told.
type askingHub struct {
	Path  string
	Edge  id.Edge
	Run   id.Run
	Hello wire.Hello
	Kind  event.PromptKind
	Hasty bool // it says that a question is stored before it is
}

// Points at which the process is killed, by the word that it has just said.
const (
	pointSent   = "sent"   // a question is on its way to the disk
	pointStored = "stored" // its edge may know that it is there
	pointShown  = "shown"  // a device has it
)

// crashSites are three points for each of four kinds.
const crashSites = 12

// P10. What a device was shown of a question is in the store after a crash, byte for byte, and so is what the edge was told to be there.
func TestP10AQuestionIsOnDiskBeforeAnybodySeesItAndStaysAsItWas(t *testing.T) {
	crashesAtEach := *promptCrashes / crashSites
	chance := chanceOf(t)
	for n, kind := range []event.PromptKind{event.PromptPermission, event.PromptQuestion, event.PromptPlanReview, event.PromptStepDecision} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			hub := seedAsking(t, kind)
			random := chance.part(n)
			seen := map[id.Request]string{} // notifications, over all crashes
			for i := range 3 * crashesAtEach {
				point := []string{pointSent, pointStored, pointShown}[i%3]
				said := hub.killedAt(t, point, 1+random.IntN(4))
				for _, lost := range hub.missing(t, said, seen) {
					t.Errorf("crash %d, after a question was %s: %s", i, point, lost)
				}
			}
			t.Logf("figure: P10: %d crashes, %d questions shown (SEED=%d)", 3*crashesAtEach, len(seen), chance.seed)
			if len(seen) < crashesAtEach {
				t.Errorf("%d questions were shown: too few to prove anything", len(seen))
			}
		})
	}
}

// The positive control: a hub that speaks of a question before it is on disk is caught.
func TestP10AHubThatSpeaksTooEarlyIsCaught(t *testing.T) {
	hub := seedAsking(t, event.PromptQuestion)
	hub.Hasty = true
	random := chanceOf(t).part(0)
	for range 50 {
		if said := hub.killedAt(t, pointStored, 1+random.IntN(4)); len(hub.missing(t, said, map[id.Request]string{})) > 0 {
			return
		}
	}
	t.Error("nothing was seen to be lost: the test of this promise proves nothing")
}

func seedAsking(t *testing.T, kind event.PromptKind) askingHub {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hub.db")
	s := openAt(t, path)
	w, stop := runWriter(s)
	a := newAsker(t, newRecord(t, s, w))
	stop()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return askingHub{Path: path, Edge: a.j.edge, Run: a.n.ID, Hello: a.j.hello, Kind: kind}
}

// heardFrom is what a process said before it was killed.
type heardFrom struct {
	stored []id.Request
	shown  map[id.Request]string // the whole notification
}

// killedAt lets a process work and kills it when it has reached the point so many times.
func (h askingHub) killedAt(t *testing.T, point string, times int) heardFrom {
	t.Helper()
	setting, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), askingStore+"="+string(setting))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := heardFrom{shown: map[id.Request]string{}}
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // a line that is cut off was not said
		}
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		request, notification, _ := strings.Cut(rest, " ")
		switch word {
		case pointSent:
		case pointStored:
			said.stored = append(said.stored, id.Request(request))
		case pointShown:
			said.shown[id.Request(request)] = notification
		default:
			t.Fatalf("child says %q", line)
		}
		if word == point {
			if times--; times == 0 {
				child.Process.Kill() //nolint:errcheck // Wait tells
			}
		}
	}
	if err := child.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("child ended with %v, want to be killed", err)
	}
	return said
}

// missing starts the store again and says what of what was said is not there, or not as it was; seen grows by what was shown.
func (h askingHub) missing(t *testing.T, said heardFrom, seen map[id.Request]string) (lost []string) {
	t.Helper()
	s, err := Open(t.Context(), h.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // it was only read
	for request, notification := range said.shown {
		seen[request] = notification
	}
	now, err := notifications(t.Context(), s, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range said.stored {
		if now[request] == "" {
			lost = append(lost, fmt.Sprintf("%s was stored and is gone", request))
		}
	}
	for request, notification := range seen {
		if now[request] != notification {
			lost = append(lost, fmt.Sprintf("%s was shown as %s and is %s", request, notification, now[request]))
		}
	}
	return lost
}

// notifications are what devices are shown of all questions behind a position, each told to tell as it is found.
func notifications(ctx context.Context, s *Store, after delivery.Position, tell func(id.Request, string)) (map[id.Request]string, error) {
	found := map[id.Request]string{}
	prompts, log := NewPrompts(s, nil), NewRunlog(s, nil, "hub")
	for {
		rows, err := s.Rows(ctx, after, 500)
		if err != nil || len(rows) == 0 {
			return found, err
		}
		for _, row := range rows {
			after = row.Position
			if row.Kind != delivery.KindPrompt {
				continue
			}
			asked, err := prompts.Prompt(ctx, row.Run, row.Prompt)
			if err != nil {
				return found, err
			}
			events, _, err := log.Events(ctx, row.Run, runlog.EventSeq(row.From-1), 1)
			if err != nil {
				return found, err
			}
			shown, err := prompt.Notification(asked, events[0])
			if err != nil {
				return found, err
			}
			found[row.Prompt] = string(shown)
			if tell != nil {
				tell(row.Prompt, string(shown))
			}
		}
	}
}

// askUntilKilled is the whole life of the child process.
func askUntilKilled(setting string) {
	if err := askFor(context.Background(), setting); err != nil {
		fmt.Println("ask:", err) //nolint:forbidigo // the parent reads it
	}
}

func askForever(ctx context.Context, h askingHub, s *Store, w *Writer) error {
	bounds, err := s.Bounds(ctx)
	if err != nil {
		return err
	}
	log := NewRunlog(s, w, "hub")
	lane, _, err := log.OpenLane(ctx, h.Edge, h.Hello)
	if err != nil {
		return err
	}
	go show(ctx, s, bounds.Head)
	for {
		request := id.NewRequest()
		row, err := h.row(request, uint64(lane.Watermark)+1)
		if err != nil {
			return err
		}
		fmt.Println(pointSent, request) //nolint:forbidigo // the parent reads it
		if h.Hasty {
			fmt.Println(pointStored, request) //nolint:forbidigo // the parent reads it
		}
		frame := wire.Frame{First: lane.Watermark + 1, Rows: [][]byte{row}}
		res, err := log.CommitFrame(ctx, runlog.PrepareFrame(h.Edge, lane, frame))
		if err != nil {
			return err
		}
		lane.Watermark, lane.Chain = res.Watermark, res.Chain
		fmt.Println(pointStored, request) //nolint:forbidigo // the parent reads it
	}
}

func askFor(ctx context.Context, setting string) error {
	var h askingHub
	if err := json.Unmarshal([]byte(setting), &h); err != nil {
		return err
	}
	s, err := Open(ctx, h.Path)
	if err != nil {
		return err
	}
	w, stop := runWriter(s)
	defer stop()
	return askForever(ctx, h, s, w)
}

// show is the devices: they see what the outbox has, as soon as it is there.
func show(ctx context.Context, s *Store, after delivery.Position) {
	for ctx.Err() == nil {
		bounds, err := s.Bounds(ctx)
		if err != nil || bounds.Head == after {
			continue
		}
		_, err = notifications(ctx, s, after, func(request id.Request, shown string) {
			fmt.Println(pointShown, request, shown) //nolint:forbidigo // the parent reads it
		})
		if err == nil {
			after = bounds.Head
		}
	}
}

// row is a question as the edge has written it down.
func (h askingHub) row(request id.Request, seq uint64) ([]byte, error) {
	asked := event.PromptRequestedPayload{RequestID: request, Kind: h.Kind, AgentRequestID: "1", Digest: strings.Repeat("0a", 32), Asks: event.Person}
	switch h.Kind {
	case event.PromptPermission:
		asked.ToolName, asked.Input = "Bash", json.RawMessage(`{"command":"ls  <é>", "n":1.0}`)
	case event.PromptQuestion:
		asked.Inner = json.RawMessage(`{"question":"a < b?", "options":[{"label":"\u0079es"}]}`)
	case event.PromptPlanReview:
		asked.Inner = json.RawMessage(`{"plan_id":"p", "steps":[{"id":"s"}]}`)
	default:
		asked.Inner = json.RawMessage(`{"scope":"plan", "reason":"1e400"}`)
	}
	payload, err := event.Encode(asked)
	if err != nil {
		return nil, err
	}
	return event.AppendRow(nil, event.Envelope{
		Version: event.Version, ID: id.NewEvent(), Seq: seq, Type: event.WireOf(event.PromptRequested, payload), Scope: event.Scope{RunID: h.Run},
		SentAt: time.Now(), Payload: payload,
	})
}
