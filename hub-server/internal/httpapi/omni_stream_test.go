package httpapi_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

var omniCuts = flag.Int("omni-cuts", 300, "how often a client of a conversation's stream is cut off")

// careful reads a stream as the protocol says: it keeps messages back until an id has come, and drops what has none.
type careful struct {
	cursor string
	have   []string
	held   []string
}

func (c *careful) take(b block) {
	switch {
	case b.event != "":
	case b.id != "":
		if b.data != "" {
			c.held = append(c.held, b.data)
		}
		c.have, c.held, c.cursor = append(c.have, c.held...), nil, b.id
	default:
		c.held = append(c.held, b.data)
	}
}

// Promise of S1: whoever is cut off, wherever it may be, and comes back has exactly the history, and so has whoever only polls.
func TestWhoIsCutOffAThousandTimesHasExactlyTheHistory(t *testing.T) {
	p := newPlace(t, func(d *httpapi.Deps) { d.Pace.Poll = 5 * time.Millisecond })
	edge, random := p.reporter(), rand.New(rand.NewPCG(8, 1))
	said, enough := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(said)
		edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
		for i := 0; ; i++ {
			select {
			case <-enough:
				return
			default:
			}
			switch edge.delta(fmt.Sprint("piece ", i, " ")); i % 10 {
			case 3: // ends the text that is open: several messages of one event
				edge.say(event.ToolStarted, event.ToolStartedPayload{ToolCallID: fmt.Sprint("call_", i), ToolName: "bash", Arguments: []byte(`{}`)})
			case 5:
				edge.say(event.ToolCompleted, event.ToolCompletedPayload{ToolCallID: fmt.Sprint("call_", i-2), Result: []byte(`"ok"`), ResultChecksum: "x"})
			}
		}
	}()
	stop := sync.OnceFunc(func() { close(enough); <-said })
	t.Cleanup(stop)
	var cut careful
	polled, after := []string(nil), "0"
	poll := func() (more bool) {
		h := p.ada.history(p.omniHistory(), url.Values{"after": {after}, "limit": {"7"}})
		polled, after = append(polled, h.lines()...), h.Cursor
		return h.More
	}
	for n := range *omniCuts {
		who := p.ada
		if cut.held = nil; cut.cursor != "" {
			who = who.with("Last-Event-ID", cut.cursor)
		}
		s := who.follow(p.omniStream() + "?after=0")
		for range random.IntN(12) {
			b, more := s.block()
			if !more {
				break
			}
			cut.take(b)
		}
		s.leave()
		if n%10 == 0 {
			poll()
		}
	}
	stop()
	edge.say(event.RunCompleted, event.RunCompletedPayload{})
	for poll() {
	}
	cut.held = nil
	s := p.ada.follow(p.omniStream() + "?after=" + cut.cursor)
	for _, b := range s.until(func(b block) bool { return strings.Contains(b.data, `"state":"idle"`) }) {
		cut.take(b)
	}
	var all careful
	for _, b := range p.ada.follow(p.omniStream() + "?after=0").until(func(b block) bool { return b.event != "" }) {
		all.take(b)
	}
	if len(all.have) < *omniCuts {
		t.Fatalf("the stream has only %d messages", len(all.have))
	}
	sameLines(t, "after the cuts", cut.have, all.have)
	sameLines(t, "polled", polled, complete(t, all.have))
	sameLines(t, "history", p.ada.whole(p.omniHistory(), 1000), complete(t, all.have))
	var stream []omni.Message
	for _, line := range all.have {
		m, err := omni.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		stream = append(stream, m)
	}
	if err := omni.CheckStream(stream); err != nil {
		t.Error(err)
	}
}

// A positive control of the test above: the same cut in the middle of an event, and a client that does not keep back what has no id yet.
func TestWhoKeepsMessagesBeforeTheirIDHasThemTwice(t *testing.T) {
	p := newPlace(t)
	p.reporter().tale(id.NewRequest())
	var right careful
	var careless []string
	first, second := p.ada.follow(p.omniStream()+"?after=0"), p.ada.follow(p.omniStream()+"?after=0")
	cut := first.blocks(3) // the first id, and two messages of an event that has more
	first.leave()
	whole := second.until(func(b block) bool { return b.id != "" && b.data != "" })
	for _, blocks := range [][]block{cut, whole} {
		right.held = nil
		for _, b := range blocks {
			right.take(b)
			careless = append(careless, b.data)
		}
	}
	careless = slices.DeleteFunc(careless, func(data string) bool { return data == "" })
	if len(right.have) < 3 || len(careless) != len(right.have)+2 {
		t.Errorf("the careful have %d messages, the careless %d", len(right.have), len(careless))
	}
}

func TestAStreamTellsWhatWasMissedThenHowItStandsThenWhatComes(t *testing.T) {
	p := newPlace(t)
	edge, request := p.reporter(), id.NewRequest()
	edge.tale(request)
	s := p.ada.follow(p.omniStream() + "?after=0")
	first := s.blocks(1)[0]
	if first.data != "" || first.event != "" || !strings.HasSuffix(first.id, "-0") {
		t.Errorf("it begins with %+v", first)
	}
	asked := fmt.Sprintf(`{"type":"approval_request","toolCall":{"type":"tool_call","role":"assistant","name":"bash","arguments":"{\"command\":\"ls\"}","tool_call_id":"a"},"requestId":%q}`, request)
	replay := s.until(has("approval_request"))
	state := replay[len(replay)-2]
	if want := fmt.Sprintf(`{"type":"task_state","state":"running","runs":[%q]}`, p.task); state.event != "server_event" || state.data != want || state.id != "" {
		t.Errorf("it stands as %+v\nwant %s", state, want)
	}
	if last := replay[len(replay)-1]; last.data != asked || last.id != "" || last.event != "server_event" {
		t.Errorf("asked is %+v\nwant %s", last, asked)
	}
	for _, b := range replay[:len(replay)-2] {
		if b.event != "" {
			t.Errorf("among what was missed is %+v", b)
		}
	}
	now := p.ada.follow(p.omniStream()) // from now on
	if began := now.until(has("approval_request")); len(began) != 3 || began[0].data != "" || began[0].id == first.id {
		t.Errorf("from now on begins with %+v", began)
	}
	edge.delta("live")
	edge.say(event.PromptAnswered, event.PromptAnsweredPayload{RequestID: request, Decision: event.Allow})
	edge.say(event.RunCompleted, event.RunCompletedPayload{})
	for name, s := range map[string]*follower{"from the beginning": s, "from now on": now} {
		live := s.until(has("task_state"))
		var types []string
		for _, b := range live {
			m, err := omni.Decode([]byte(b.data))
			if err != nil {
				types = append(types, b.data)
				continue
			}
			types = append(types, string(m.PayloadType()))
		}
		got := strings.Join(types, " ")
		if !strings.Contains(got, "partial_text") || !strings.Contains(got, "approval_decision") || !strings.HasSuffix(got, `{"type":"task_state","state":"idle","runs":[]}`) {
			t.Errorf("%s: live is %s", name, got)
		}
	}
}

func TestAStreamThatCannotGoOnSaysSo(t *testing.T) {
	p := newPlace(t, func(d *httpapi.Deps) { d.Pace.Poll = 10 * time.Millisecond })
	edge := p.reporter()
	edge.tale(id.NewRequest())
	s := p.ada.follow(p.omniStream() + "?after=0123456789abcdef-3")
	lost := s.blocks(2)
	if lost[0].data != `{"type":"resync_required","reason":"epoch"}` || lost[0].id != "" || lost[1].data != "" || lost[1].id == "" {
		t.Errorf("another epoch: %+v", lost)
	}
	s.until(has("task_state"))
	edge.delta("still live")
	s.until(has("still live"))
	for text, code := range map[string]string{"x": "cursor_invalid", "": "cursor_invalid", "-1": "cursor_invalid", "41": "cursor_invalid"} {
		p.ada.get(p.omniStream()+"?after="+text).is(400, code)
		p.ada.get(p.omniHistory()+"?after="+text).is(400, code)
	}
	p.ada.get(p.omniStream()+"?after=0&after=0").is(400, "invalid_request")
	epoch := string(p.deps.Epoch())
	p.ada.get(p.omniStream()+"?after="+epoch+"-1000").is(422, "cursor_ahead")
	p.ada.get(p.omniHistory()+"?after="+epoch+"-1000").is(422, "cursor_ahead")
	p.ada.get(p.omniHistory()+"?before="+epoch+"-1000.0").is(422, "cursor_ahead")
	p.ada.get(p.omniHistory()+"?after=0123456789abcdef-3").is(409, "cursor_reset").sentence("Read the conversation again")
	p.ada.get(p.omniHistory()+"?after=0&before="+epoch+"-1").is(400, "invalid_request")
	p.ada.get(p.omniHistory()+"?limit=1001").is(400, "invalid_request")
	other := wire.Epoch("fedcba9876543210")
	p.epoch.Store(&other)
	rest := s.until(has("resync_required"))
	if _, more := s.block(); more || rest[len(rest)-1].data != `{"type":"resync_required","reason":"epoch"}` {
		t.Errorf("with another epoch comes %+v, and more: %v", rest, more)
	}
}

func TestAStreamTellsTheTitle(t *testing.T) {
	p := newPlace(t)
	s := p.ada.follow(p.omniStream())
	s.until(has("task_state"))
	p.ada.do("PATCH", "/client/sessions/"+p.session+"/info", object{"announcement": "Be kind."}).is(200, "")
	p.ada.do("PATCH", "/client/sessions/"+p.session+"/info", object{"name": "<New>"}).is(200, "")
	if got := s.blocks(1)[0]; got.event != "server_event" || got.id != "" || got.data != `{"type":"session_title","title":"<New>"}` {
		t.Errorf("got %+v", got)
	}
}

func TestASilentStreamPings(t *testing.T) {
	p := newPlace(t, func(d *httpapi.Deps) { d.Pace.Ping = 5 * time.Millisecond })
	s := p.ada.follow(p.omniStream())
	s.until(has("task_state"))
	time.AfterFunc(50*time.Millisecond, func() { p.reporter().delta("x") })
	s.until(has("x"))
	for _, comment := range s.comments {
		if comment == "ping" {
			return
		}
	}
	t.Errorf("comments %q", s.comments)
}

// TestLargeInputsAreNotToldToEachReader has a permission with more than is told: the question has it.
func TestLargeInputsAreNotToldToEachReader(t *testing.T) {
	p := newPlace(t)
	edge, request := p.reporter(), id.NewRequest()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	edge.say(event.PromptRequested, event.PromptRequestedPayload{
		RequestID: request, Kind: event.PromptPermission, ToolName: "bash", ToolCallID: "a", Digest: strings.Repeat("a", 64), Asks: event.Person,
		Input: json.RawMessage(`{"command":"` + strings.Repeat("a", 80<<10) + `"}`),
	})
	want := fmt.Sprintf(`{"type":"approval_request","toolCall":{"type":"tool_call","role":"assistant","name":"bash","arguments":"","tool_call_id":"a"},"cut":true,"requestId":%q}`, request)
	told := p.ada.follow(p.omniStream()).until(has("approval_request"))
	if last := told[len(told)-1]; last.data != want {
		t.Errorf("asked is %.300s\nwant %s", last.data, want)
	}
	if list := p.ada.get("/client/prompts?state=pending").is(200, ""); !strings.Contains(string(list.body), strings.Repeat("a", 80<<10)) {
		t.Errorf("the question is %.300s", list.body)
	}
}
