package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestAStreamReplaysThenFollowsAndEndsAfterTheOutcome(t *testing.T) {
	p := newPlace(t)
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	edge.delta("one")
	s := p.ada.follow(p.stream())
	for name, want := range map[string]string{
		"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff", "Vary": "Accept",
	} {
		if got := s.resp.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	got := []frame{s.must(), s.must()}
	edge.delta("two") // pushed: this rig does not poll
	got = append(got, s.must())
	edge.say(event.RunCompleted, event.RunCompletedPayload{})
	rest, err := s.rest()
	if err != nil {
		t.Fatal(err)
	}
	var ids, names []string
	for _, f := range append(got, rest...) {
		ids, names = append(ids, f.id), append(names, f.event)
	}
	if fmt.Sprint(ids) != "[1 2 3 4]" || fmt.Sprint(names) != "[run.started message.delta message.delta run.completed]" {
		t.Errorf("frames %v %v", ids, names)
	}
	if epoch := s.resp.Header.Get("X-Switchyard-Epoch"); epoch == "" || !slices.Contains(s.comments, "epoch "+epoch) {
		t.Errorf("epoch %q, comments %q", epoch, s.comments)
	}
	var lean map[string]any
	if err := json.Unmarshal([]byte(got[2].data), &lean); err != nil {
		t.Fatal(err)
	}
	if len(lean) != 5 || lean["run_id"] != p.task || lean["seq"] != 3.0 || lean["event_type"] != "message.delta" || lean["occurred_at"] == "" {
		t.Errorf("lean event %s", got[2].data)
	}
}

func TestALateRowIsForTheNextReader(t *testing.T) {
	p := newPlace(t)
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	edge.say(event.RunCompleted, event.RunCompletedPayload{})
	if frames, err := p.ada.follow(p.stream()).rest(); len(frames) != 2 || err != nil {
		t.Fatalf("%v, %v", frames, err)
	}
	edge.delta("after the end")
	frames, err := p.ada.follow(p.stream()).rest()
	if err != nil || len(frames) != 3 || !strings.Contains(frames[2].data, `"late":true`) || strings.Contains(frames[1].data, "late") {
		t.Fatalf("%v, %v", frames, err)
	}
	if frames, err := p.ada.follow(p.stream() + "?after_seq=3").rest(); len(frames) != 0 || err != nil {
		t.Errorf("behind the last: %v, %v", frames, err)
	}
}

func TestR2CursorsOfAStreamAndOfPages(t *testing.T) {
	p := newPlace(t)
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	edge.delta("one")
	edge.say(event.RunCompleted, event.RunCompletedPayload{})
	epoch := p.ada.with("Accept", "application/json").get(p.stream()).is(200, "").field("epoch")
	for _, c := range []struct {
		query, header string
		status        int
		code          string
		first         string // id of the first frame
	}{
		{query: "", status: 200, first: "1"},
		{query: "?after_seq=0", status: 200, first: "1"},
		{query: "?after_seq=1", status: 200, first: "2"},
		{header: "2", status: 200, first: "3"},
		{query: "?after_seq=1", header: "2", status: 200, first: "3"},
		{query: "?after_seq=2", header: "1", status: 200, first: "3"},
		{query: "?after_seq=" + epoch + ".1", status: 200, first: epoch + ".2"},
		{header: epoch + ".1", status: 200, first: epoch + ".2"},
		{query: "?after_seq=feedface.9", header: epoch + ".1", status: 200, first: epoch + ".2"}, // it has been told since
		{query: "?after_seq=-1", status: 422, code: "cursor_negative"},
		{header: "-1", status: 422, code: "cursor_negative"},
		{query: "?after_seq=4", status: 422, code: "cursor_ahead"},
		{header: "4", status: 422, code: "cursor_ahead"},
		{query: "?after_seq=99999999999999999999", status: 422, code: "cursor_ahead"},
		{query: "?after_seq=" + epoch + ".4", status: 422, code: "cursor_ahead"},
		{query: "?after_seq=x", status: 400, code: "cursor_invalid"},
		{query: "?after_seq=", status: 400, code: "cursor_invalid"},
		{query: "?after_seq=1.5e3", status: 400, code: "cursor_invalid"},
		{query: "?after_seq=.1", status: 400, code: "cursor_invalid"},
		{header: "+1", status: 400, code: "cursor_invalid"},
		{query: "?after_seq=1&after_seq=2", status: 400, code: "invalid_request"},
		{query: "?view=fat", status: 400, code: "invalid_request"},
		{query: "?after_seq=feedface.1", status: 409, code: "cursor_reset"},
	} {
		who := p.ada
		if c.header != "" {
			who = who.with("Last-Event-ID", c.header)
		}
		if c.status == 200 {
			if got := who.follow(p.stream() + c.query).must(); got.id != c.first {
				t.Errorf("%s, header %s: first frame %s, want %s", c.query, c.header, got.id, c.first)
			}
		} else {
			who.get(p.stream()+c.query).is(c.status, c.code)
		}
		page := who.with("Accept", "application/json").get(p.stream()+c.query).is(c.status, c.code)
		if c.code == "cursor_reset" && page.field("epoch") != epoch {
			t.Errorf("the current epoch is not in %s", page.body)
		}
	}
}

func TestR2ABrowserWithACursorOfAnotherEpochIsToldOnTheStream(t *testing.T) {
	p := newPlace(t)
	p.reporter().say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	frames, err := p.ada.with("Last-Event-ID", "feedface.7").follow(p.stream() + "?after_seq=feedface.0").rest()
	if err != nil || len(frames) != 1 || frames[0].event != "cursor_reset" || frames[0].id != "" || !strings.Contains(frames[0].data, `"last_event_seq":1`) {
		t.Fatalf("%v, %v", frames, err)
	}
	p.ada.with("Accept", "application/json").with("Last-Event-ID", "feedface.7").get(p.stream()).is(409, "cursor_reset")

	s := p.ada.follow(p.stream())
	s.must()
	other := wire.Epoch("0011223344556677")
	p.epoch.Store(&other) // the store is restored under a stream
	p.reporter().delta("one")
	if frames, err := s.rest(); err != nil || len(frames) != 1 || !strings.Contains(frames[0].data, string(other)) {
		t.Errorf("%v, %v", frames, err)
	}
}

func TestABrowserThatHasEverythingIsToldToStop(t *testing.T) {
	p := newPlace(t)
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	edge.say(event.RunCompleted, event.RunCompletedPayload{})
	p.ada.with("Last-Event-ID", "2").get(p.stream()).is(204, "")
	if got := p.ada.with("Last-Event-ID", "1").follow(p.stream()).must(); got.id != "2" {
		t.Errorf("got %+v", got)
	}
}

func TestTheSameEventsComeInPagesAndInFull(t *testing.T) {
	p := newPlace(t)
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	edge.delta("a <b> & c")
	edge.delta("two")
	type event struct {
		Seq      int             `json:"seq"`
		Payload  json.RawMessage `json:"payload"`
		Checksum string          `json:"payload_checksum"`
		Schema   int             `json:"schema_version"`
		Agent    string          `json:"agent_id"`
		Snapshot string          `json:"agent_snapshot_checksum"`
		Trace    string          `json:"trace_id"`
		Recorded string          `json:"recorded_at"`
	}
	type page struct {
		Items []event `json:"items"`
		Next  int     `json:"next"`
		Last  int     `json:"last_event_seq"`
	}
	pages := p.ada.with("Accept", "text/html, application/json;q=0.9, text/event-stream;q=0.5")
	var first, last page
	pages.get(p.stream()+"?limit=2&view=full").is(200, "").into(&first)
	pages.get(p.stream()+"?limit=2&view=full&after_seq=2").is(200, "").into(&last)
	if first.Next != 2 || first.Last != 3 || len(first.Items) != 2 || last.Next != 0 || len(last.Items) != 1 {
		t.Fatalf("pages %+v %+v", first, last)
	}
	e := first.Items[1]
	if e.Schema != 1 || e.Agent != p.agent || len(e.Snapshot) != 64 || len(e.Trace) != 32 || e.Recorded == "" || !strings.Contains(string(e.Payload), "a <b> & c") {
		t.Errorf("full event %+v", e)
	}
	if sum, err := eventChecksum(e.Payload); err != nil || sum != e.Checksum {
		t.Errorf("checksum %s, %v, want %s", e.Checksum, err, sum)
	}
	if lean := pages.get(p.stream()).is(200, ""); strings.Contains(string(lean.body), "checksum") {
		t.Errorf("lean page %s", lean.body)
	}
	for _, limit := range []string{"0", "501", "x"} {
		pages.get(p.stream()+"?limit="+limit).is(400, "invalid_request")
	}
}

func eventChecksum(payload json.RawMessage) (string, error) { return event.Checksum(payload) }

func TestAnIdleStreamSaysThatItStands(t *testing.T) {
	p := newPlace(t, func(d *httpapi.Deps) { d.Pace.KeepAlive = 10 * time.Millisecond })
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	s := p.ada.follow(p.stream())
	for s.lines.Scan() && s.lines.Text() != ": keep-alive" {
	}
	edge.delta("one")
	if got := s.must(); got.id != "2" {
		t.Errorf("after a comment came %+v", got)
	}
}

func TestALostHintCostsOnePoll(t *testing.T) {
	p := newPlace(t, func(d *httpapi.Deps) {
		d.Pace.Poll = 10 * time.Millisecond
		d.Followers = deaf() // hints go to another set
	})
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	s := p.ada.follow(p.stream())
	s.must()
	edge.delta("one")
	if got := s.must(); got.id != "2" {
		t.Errorf("got %+v", got)
	}
}
