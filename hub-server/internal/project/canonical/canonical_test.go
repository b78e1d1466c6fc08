package canonical

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the golden files anew")

const epoch = "1f0c5a9e33b2d704"

var (
	lean = Projection{View: Lean}
	full = Projection{View: Full, Agent: "agent_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55", AgentChecksum: strings.Repeat("ab", 32)}
)

func committed(seq runlog.EventSeq, t event.Type, payload string) runlog.StoredEvent {
	return runlog.StoredEvent{
		ID: "evt_0123456789abcdef0123", Run: "run_9f2c1b7ad0e44c55", Seq: seq, Type: t, WireType: event.Wire(t),
		OccurredAt: time.Date(2026, 9, 7, 10, 30, 0, 123456000, time.FixedZone("x", 3600)),
		RecordedAt: time.Date(2026, 9, 7, 9, 30, 0, 126000000, time.UTC), Payload: json.RawMessage(payload),
		Checksum: strings.Repeat("cd", 32), Schema: 1, TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", SpanID: "00f067aa0ba902b7",
		Edge: "edge_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55", ProducerSeq: 7,
	}
}

// The bytes that clients read: they depend on them.
func TestFramesAndPagesAreStable(t *testing.T) {
	delta := committed(4, event.MessageDelta, `{"message_id":"msg_x","delta":"<b>\u2028 é \n</b>","n":1.0}`)
	late := committed(10, event.MessageDelta, `{}`)
	late.Late = true
	own := committed(3, event.RunCancelling, `{}`)
	own.Edge, own.SpanID = "", ""
	reset, err := AppendReset(nil, epoch, 41)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]byte{
		"lean.sse":       lean.AppendFrame(nil, delta),
		"epochs.sse":     Projection{View: Lean, IDEpoch: epoch}.AppendFrame(nil, delta),
		"full.sse":       full.AppendFrame(nil, delta),
		"late.sse":       lean.AppendFrame(nil, late),
		"hubs_own.sse":   full.AppendFrame(nil, own),
		"reset.sse":      reset,
		"hello.sse":      AppendHello(nil, epoch),
		"page.json":      lean.AppendPage(nil, runlog.EventPage{Events: []runlog.StoredEvent{own, delta}, Last: 9}, epoch),
		"last_page.json": lean.AppendPage(nil, runlog.EventPage{Last: 9}, epoch),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs; if that is meant, run with -update\n got: %q\nwant: %q", name, got, want)
		}
	}
}

// Whatever a payload is, a frame has one data line, and that is the event again with the value it had.
func TestAFrameHasOneDataLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space := rapid.SampledFrom([]string{"", " ", "\n", "\r\n", "\r", "\t\n\n"})
		value, err := event.Encode(rapid.String().Draw(t, "text"))
		if err != nil {
			t.Fatal(err)
		}
		payload := space.Draw(t, "a") + "{" + space.Draw(t, "b") + `"x":` + space.Draw(t, "c") + string(value) + space.Draw(t, "d") + "}"
		shown := string(lean.AppendFrame(nil, committed(1, event.MessageDelta, payload)))
		head, rest, _ := strings.Cut(shown, "data: ")
		data, tail, _ := strings.Cut(rest, "\n")
		if head != "id: 1\nevent: message.delta\n" || tail != "\n" || strings.Contains(data, "\r") {
			t.Fatalf("frame %q", shown)
		}
		var got struct{ Payload json.RawMessage }
		if err := json.Unmarshal([]byte(data), &got); err != nil {
			t.Fatal(err)
		}
		want, err := event.Checksum(json.RawMessage(payload))
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := event.Checksum(got.Payload); err != nil || sum != want {
			t.Fatalf("payload %s became %s, %v", payload, got.Payload, err)
		}
	})
}

func TestAnUnknownTypeIsShownAsItIs(t *testing.T) {
	if got := lean.AppendFrame(nil, committed(1, "run.agent.of_tomorrow", `{"x":1.50}`)); !bytes.Contains(got, []byte("event: run.agent.of_tomorrow\n")) ||
		!bytes.Contains(got, []byte(`"payload":{"x":1.50}}`)) {
		t.Errorf("frame %q", got)
	}
}
