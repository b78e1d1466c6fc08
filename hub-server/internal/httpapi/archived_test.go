package httpapi_test

import (
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/archive"
	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/hub-server/internal/retention"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// archive lets every ended run leave, as if a year had gone by.
func (p *place) archive() {
	p.t.Helper()
	later := time.Now().Add(365 * 24 * time.Hour)
	if _, _, err := sqlstore.NewOutboxTrim(p.writer).Trim(p.t.Context(), later, 1_000_000); err != nil {
		p.t.Fatal(err)
	}
	logs, policy := sqlstore.NewArchives(p.store, p.writer, "hub"), retention.Policy{Age: 30 * 24 * time.Hour}
	dir := archive.Dir(filepath.Join(p.home, "archive"))
	archiver := retention.NewArchiver(logs, nil, dir, policy, slog.New(slog.DiscardHandler), telemetry.NewRegistry("hub"))
	archiver.Messages = p.deps.Omni
	if err := archiver.Pass(p.t.Context(), later); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) finished() *reporter {
	p.t.Helper()
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	edge.delta("one")
	edge.say(event.RunCompleted, event.RunCompletedPayload{})
	return edge
}

func TestEveryReaderOfAnArchivedRunIsToldSo(t *testing.T) {
	p := newPlace(t)
	edge := p.finished()
	task, events := "/web/agent-tasks/"+p.task, "/web/agent-tasks/"+p.task+"/events"
	if strings.Contains(string(p.ada.get(task).is(200, "").body), "archived_through") {
		t.Error("a run that is all there says that it was archived")
	}
	p.archive()
	pages := p.ada.with("Accept", "application/json")
	for name, a := range map[string]answer{
		"stream":             p.ada.get(p.stream()),
		"stream from below":  p.ada.get(p.stream() + "?after_seq=2"),
		"reconnected stream": p.ada.with("Last-Event-ID", "1").get(p.stream()),
		"pages":              pages.get(p.stream() + "?view=full"),
		"page of the task":   p.ada.get(events),
		"next page of it":    p.ada.get(events + "?after_seq=1"),
	} {
		a.is(410, "events_expired").sentence("hub-server archive show " + p.task)
		var problem struct{ Floor int }
		if a.into(&problem); problem.Floor != 3 {
			t.Errorf("%s: the floor is %d in %s", name, problem.Floor, a.body)
		}
	}
	var found struct {
		State           string
		ArchivedThrough int    `json:"archived_through"`
		EndedAt         string `json:"ended_at"`
	}
	if p.ada.get(task).is(200, "").into(&found); found.State != "completed" || found.ArchivedThrough != 3 || found.EndedAt == "" {
		t.Errorf("the run is %+v", found)
	}
	if list := p.ada.get("/web/agent-tasks").is(200, ""); !strings.Contains(string(list.body), `"archived_through":3`) {
		t.Errorf("runs are %s", list.body)
	}
	p.ada.with("Last-Event-ID", "3").get(p.stream()).is(204, "")
	p.ada.get(p.stream()+"?after_seq=4").is(422, "cursor_ahead")
	p.bob.get(p.stream()).is(404, "not_found") // it is as absent for strangers as before

	edge.delta("late")
	if frames, err := p.ada.follow(p.stream() + "?after_seq=3").rest(); err != nil || len(frames) != 1 || frames[0].id != "4" {
		t.Errorf("behind the floor: %v, %v", frames, err)
	}
	if page := p.ada.get(events+"?after_seq=3").is(200, ""); !strings.Contains(string(page.body), `"late":true`) {
		t.Errorf("behind the floor: %s", page.body)
	}
	p.ada.get(p.stream()).is(410, "events_expired")
}

// A reader that is so slow that the run leaves under it is cut off, and told when it comes back.
func TestAStreamWhoseRunLeavesIsCutAndNeverSkips(t *testing.T) {
	p := newPlace(t, func(d *httpapi.Deps) { d.Pace.Write = time.Hour }) // it is slow, and not given up
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	for range 103 { // more than a read of the log, and more than the network holds
		edge.delta(strings.Repeat("x", 100<<10))
	}
	edge.say(event.RunCompleted, event.RunCompletedPayload{})
	slow := p.ada.follow(p.stream())
	first := slow.must()
	p.archive()
	frames, err := slow.rest()
	if first.id != "1" || err == nil || len(frames) == 0 || frames[len(frames)-1].event == "run.completed" {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	last := frames[len(frames)-1].id
	for !strings.Contains(string(p.anonymous().get("/metrics").body), `http_event_streams_ended_total{why="events went to an archive"} 1`) {
	}
	p.ada.with("Last-Event-ID", last).get(p.stream()).is(410, "events_expired")
}

// Of a conversation, too: the stream says that it cannot go on from there and goes on from now, the history begins where it is kept.
func TestEveryReaderOfAConversationWhoseBeginningHasLeftIsToldSo(t *testing.T) {
	p := newPlace(t)
	p.finished()
	whole := p.ada.history(p.omniHistory(), nil)
	before := whole.Messages[0].Position
	early, _, _ := strings.Cut(before, ".")
	p.archive()
	p.ada.get(p.omniHistory()+"?after="+early).is(409, "cursor_reset")
	if h := p.ada.history(p.omniHistory(), nil); len(h.Messages) != 0 || h.More || h.Floor != whole.Cursor || h.Cursor != whole.Cursor {
		t.Errorf("left is %+v, it had ended at %s", h, whole.Cursor)
	}
	if h := p.ada.history(p.omniHistory(), url.Values{"before": {before}}); len(h.Messages) != 0 || h.More || h.Floor != whole.Cursor {
		t.Errorf("before what has left is %+v", h)
	}
	s := p.ada.with("Last-Event-ID", early).follow(p.omniStream())
	lost := s.blocks(3)
	if lost[0].data != `{"type":"resync_required","reason":"trimmed"}` || lost[0].id != "" || lost[1].id != whole.Cursor || !strings.Contains(lost[2].data, "task_state") {
		t.Errorf("the stream begins with %+v", lost)
	}
	p.ada.post("/client/sessions/"+p.session+"/messages", text("@scout again")).is(201, "")
	if got := s.until(has("task_state")); !strings.Contains(got[len(got)-1].data, `"queued":1`) {
		t.Errorf("live comes %+v", got)
	}
}
