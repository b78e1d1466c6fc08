package httpapi_test

import (
	"mime"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// workDir is where the runs of a place work, on their edge.
const workDir = "/home/ada/secret-project"

// report commits, as the edge would, that the run has started and what it says next.
func (p *place) report(payloads map[event.WireType]any) {
	p.t.Helper()
	var rows [][]byte
	write := func(t event.WireType, payload any) {
		raw, err := event.Encode(payload)
		if err != nil {
			p.t.Fatal(err)
		}
		row, err := event.AppendRow(nil, event.Envelope{
			Version: event.Version, ID: id.NewEvent(), Seq: uint64(len(rows)) + 1, Type: t, Scope: event.Scope{RunID: id.Run(p.task)},
			TraceID: "trace_" + strings.Repeat("a", 32), SentAt: time.Now(), Payload: raw,
		})
		if err != nil {
			p.t.Fatal(err)
		}
		rows = append(rows, row)
	}
	write("run.started", map[string]any{"note": "a <b> & c", "n": 1, "workDir": workDir})
	for t, payload := range payloads {
		write(t, payload)
	}
	edge := id.Edge(p.edge)
	lane, err := p.lanes.Open(p.t.Context(), edge, wire.Hello{
		Protocol: wire.Protocol, Incarnation: "0123456789abcdef", BootNonce: "0123456789abcdef", Floor: 1, Head: wire.ProducerSeq(len(rows)),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	frame := runlog.PrepareFrame(edge, lane, wire.Frame{First: 1, Rows: rows})
	if res, err := p.lanes.Commit(p.t.Context(), frame); err != nil || res.NeedBlob != "" {
		p.t.Fatalf("commit %+v, %v", res, err)
	}
}

func TestSEC21AnArtifactIsSavedAndNeverRun(t *testing.T) {
	p := newPlace(t)
	page := []byte("<script>alert(document.domain)</script>")
	_, credential, _ := p.ada.enrolled("other")
	p.as(credential).upload(hashOf(page), page).is(204, "") // another edge has the same bytes
	p.as(p.credential).upload(hashOf(page), page).is(204, "")
	artifact := id.NewArtifact()
	p.report(map[event.WireType]any{"artifact.created": event.ArtifactCreatedPayload{
		Type: "file", ArtifactID: artifact, Filename: "../../evil\r\n<x>.html", ContentType: "text/html", Size: int64(len(page)), Checksum: hashOf(page),
	}})
	path := "/client/artifacts/" + string(artifact)
	meta := p.ada.get(path).is(200, "")
	if meta.field("sha256") != hashOf(page) || meta.field("content_type") != "text/html" {
		t.Fatalf("metadata %s", meta.body)
	}
	if list := p.ada.get("/web/agent-tasks/"+p.task+"/artifacts").is(200, ""); !strings.Contains(string(list.body), string(artifact)) {
		t.Fatalf("list %s", list.body)
	}
	content := p.ada.get(path + "/content")
	if content.status != 200 || string(content.body) != string(page) {
		t.Fatalf("content %d %q", content.status, content.body)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "sandbox; default-src 'none'", "Cache-Control": "no-store",
	} {
		if got := content.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	kind, params, err := mime.ParseMediaType(content.header.Get("Content-Disposition"))
	if err != nil || kind != "attachment" || strings.ContainsAny(params["filename"], "/\\\r\n") {
		t.Errorf("Content-Disposition %q, %v", content.header.Get("Content-Disposition"), err)
	}
	for _, other := range []string{path, path + "/content"} {
		p.bob.get(other).is(404, "not_found")
	}
	for _, name := range []string{"..%2f..%2fkeys.json", "%2e%2e", string(artifact) + "%00", strings.ToUpper(string(artifact))} {
		p.ada.get("/client/artifacts/"+name).is(404, "not_found")
	}
}

func TestEventsComeBackByteForByte(t *testing.T) {
	p := newPlace(t)
	p.report(nil)
	list := p.ada.get("/web/agent-tasks/"+p.task+"/events").is(200, "")
	if !strings.Contains(string(list.body), `"payload":{"n":1,"note":"a <b> & c","workDir":"`+workDir+`"}}`) || !strings.Contains(string(list.body), `"last_event_seq":1}`) {
		t.Fatalf("events %s", list.body)
	}
	if empty := p.ada.get("/web/agent-tasks/"+p.task+"/events?after_seq=1").is(200, ""); string(empty.body) != `{"items":[],"last_event_seq":1}` {
		t.Fatalf("after the last: %s", empty.body)
	}
	if task := p.ada.get("/web/agent-tasks/"+p.task).is(200, ""); task.field("state") != "running" {
		t.Fatalf("task %s", task.body)
	}
	p.ada.post("/web/agent-tasks/"+p.task+"/cancel", nil).is(202, "")
	if again := p.ada.post("/web/agent-tasks/"+p.task+"/cancel", nil).is(202, ""); again.field("state") != "cancelled" {
		t.Fatalf("cancel again %s", again.body)
	}
}

func TestR18OnlyTheOwnerOfTheEdgeSeesWhereARunWorks(t *testing.T) {
	p := newPlace(t)
	p.ada.post("/client/sessions/"+p.session+"/members", object{"member_id": p.bob.login.User.ID}).is(201, "")
	p.report(nil)
	log := "/web/agent-tasks/" + p.task + "/events"
	if mine := p.ada.get(log).is(200, ""); !strings.Contains(string(mine.body), workDir) {
		t.Errorf("the owner sees %s", mine.body)
	}
	shown := p.bob.get(log).is(200, "")
	if strings.Contains(string(shown.body), workDir) || !strings.Contains(string(shown.body), "run.started") {
		t.Errorf("another member sees %s", shown.body)
	}
}
