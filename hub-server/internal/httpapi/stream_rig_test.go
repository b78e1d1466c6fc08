package httpapi_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// reporter commits events of a place's run one after the other, as its edge would.
type reporter struct {
	p    *place
	lane runlog.LaneState
}

func (p *place) reporter() *reporter {
	p.t.Helper()
	lane, err := p.lanes.Open(p.t.Context(), id.Edge(p.edge), wire.Hello{
		Protocol: wire.Protocol, Incarnation: "0123456789abcdef", BootNonce: "0123456789abcdef", Floor: 1,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return &reporter{p: p, lane: lane}
}

// say commits one event.
func (r *reporter) say(t event.Type, payload any) {
	r.p.t.Helper()
	raw, err := event.Encode(payload)
	if err != nil {
		r.p.t.Fatal(err)
	}
	row, err := event.AppendRow(nil, event.Envelope{
		Version: event.Version, ID: id.NewEvent(), Seq: uint64(r.lane.Watermark) + 1, Type: event.Wire(t), Scope: event.Scope{RunID: id.Run(r.p.task)},
		TraceID: "trace_" + strings.Repeat("a", 32), SentAt: time.Now(), Payload: raw,
	})
	if err != nil {
		r.p.t.Fatal(err)
	}
	frame := runlog.PrepareFrame(id.Edge(r.p.edge), r.lane, wire.Frame{First: r.lane.Watermark + 1, Rows: [][]byte{row}})
	res, err := r.p.lanes.Commit(r.p.t.Context(), frame)
	if err != nil || len(res.Refused) > 0 {
		r.p.t.Fatalf("commit %+v, %v", res, err)
	}
	r.lane.Watermark, r.lane.Chain = res.Watermark, res.Chain
}

func (r *reporter) delta(text string) {
	r.p.t.Helper()
	r.say(event.MessageDelta, event.DeltaPayload{MessageID: "msg_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55", Delta: text})
}

func (p *place) stream() string { return "/api/agent-runs/" + p.task + "/events" }

// frame is one event as a client of server-sent events sees it.
type frame struct{ id, event, data string }

// follower reads a stream as the HTML standard says.
type follower struct {
	t        *testing.T
	resp     *http.Response
	lines    *bufio.Scanner
	stop     context.CancelFunc
	comments []string
}

// follow opens a stream and reads its head.
func (c *client) follow(path string) *follower {
	c.hub.t.Helper()
	ctx, stop := context.WithCancel(c.hub.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.hub.server.URL+path, nil)
	if err != nil {
		c.hub.t.Fatal(err)
	}
	if c.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+c.bearer)
	}
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	resp, err := c.hub.server.Client().Do(r)
	if err != nil {
		c.hub.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		c.hub.t.Fatalf("stream answered %d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	f := &follower{t: c.hub.t, resp: resp, lines: bufio.NewScanner(resp.Body), stop: stop}
	f.lines.Buffer(nil, 1<<20)
	c.hub.t.Cleanup(f.leave)
	return f
}

// leave cuts the connection, as a network does.
func (f *follower) leave() {
	f.stop()
	f.resp.Body.Close() //nolint:errcheck // it is cut off
}

// next returns the next frame; false at the end of the stream.
func (f *follower) next() (got frame, more bool) {
	f.t.Helper()
	for f.lines.Scan() {
		line := f.lines.Text()
		if line == "" {
			if got.event != "" {
				return got, true
			}
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "":
			f.comments = append(f.comments, value)
		case "id":
			got.id = value
		case "event":
			got.event = value
		case "data":
			if got.data != "" {
				f.t.Fatalf("a second data line: %s", line)
			}
			got.data = value
		}
	}
	return got, false
}

// must returns the next frame.
func (f *follower) must() frame {
	f.t.Helper()
	got, more := f.next()
	if !more {
		f.t.Fatalf("the stream ended: %v", f.lines.Err())
	}
	return got
}

// rest returns all frames up to the end, and how the stream ended.
func (f *follower) rest() (frames []frame, err error) {
	f.t.Helper()
	for {
		got, more := f.next()
		if !more {
			return frames, f.lines.Err()
		}
		frames = append(frames, got)
	}
}
