package client

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func streamFrame(run string, seq int64, typ, payload string) HubWebSocketFrame {
	quoted, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	return HubWebSocketFrame{
		Type:    HubWebSocketFrameTypeAgentStream,
		Payload: fmt.Appendf(nil, `{"id":"evt_%s_%d","task_id":%q,"event_seq":%d,"event_type":%q,"payload":%s}`, run, seq, run, seq, typ, quoted),
	}
}

func frameOf(typ HubWebSocketFrameType, payload string) HubWebSocketFrame {
	return HubWebSocketFrame{Type: typ, Payload: []byte(payload)}
}

func TestAMessageIsMergedByID(t *testing.T) {
	r := NewReducer()
	first := frameOf(HubWebSocketFrameTypeMessageNew, `{"id":"msg_1","content":{"text":"helo"}}`)
	again := frameOf(HubWebSocketFrameTypeMessageNew, `{"content": {"text": "helo"}, "id": "msg_1"}`)
	edited := frameOf(HubWebSocketFrameTypeMessageNew, `{"id":"msg_1","content":{"text":"hello"}}`)
	for i, want := range []Verdict{Applied, Repeated} {
		if got := r.Apply(first); got != want {
			t.Fatalf("time %d: %d, want %d", i+1, got, want)
		}
	}
	if got := r.Apply(again); got != Repeated {
		t.Fatalf("written otherwise: %d, want repeated", got)
	}
	if got := r.Apply(edited); got != Applied {
		t.Fatalf("edit: %d, want applied", got)
	}
	m, ok := r.Message("msg_1")
	if !ok || string(m.Content) != `{"text":"hello"}` {
		t.Fatalf("message = %s, %v", m.Content, ok)
	}
}

func TestARunsLogOnlyGrowsByItsNextEvent(t *testing.T) {
	r := NewReducer()
	for _, step := range []struct {
		seq  int64
		want Verdict
	}{{1, Applied}, {2, Applied}, {2, Repeated}, {1, Repeated}, {4, Missed}, {3, Applied}, {4, Applied}} {
		if got := r.Apply(streamFrame("run_1", step.seq, "run.agent.text_delta", "{}")); got != step.want {
			t.Fatalf("event %d: %d, want %d", step.seq, got, step.want)
		}
	}
	if got := r.Watermark("run_1"); got != 4 {
		t.Fatalf("watermark = %d", got)
	}
	r.Begin("run_2", 9)
	if got := r.Apply(streamFrame("run_2", 10, "run.finished", "{}")); got != Applied {
		t.Fatalf("after Begin: %d, want applied", got)
	}
}

func TestTheEndOfARunIsAppliedOnce(t *testing.T) {
	r := NewReducer()
	done := frameOf(HubWebSocketFrameTypeAgentDone, `{"task_id":"run_1","session_id":"s"}`)
	other := frameOf(HubWebSocketFrameTypeAgentDone, `{"task_id":"run_1"}`)
	if r.Outcome("run_1") != "" {
		t.Fatal("ended before its end")
	}
	if a, b := r.Apply(done), r.Apply(done); a != Applied || b != Repeated {
		t.Fatalf("verdicts %d, %d", a, b)
	}
	if got := r.Apply(other); got != Repeated {
		t.Fatalf("another end: %d, want repeated", got)
	}
	if got := r.Outcome("run_1"); got != HubWebSocketFrameTypeAgentDone {
		t.Fatalf("outcome = %q", got)
	}
}

func TestTakingBackRemovesTheRecord(t *testing.T) {
	r := NewReducer()
	pin := frameOf(HubWebSocketFrameTypeMessagePin, `{"session_id":"s","message_id":"m","pinned_at":"now"}`)
	unpin := frameOf(HubWebSocketFrameTypeMessageUnpin, `{"session_id":"s","message_id":"m"}`)
	for i, step := range []struct {
		frame HubWebSocketFrame
		want  Verdict
	}{{unpin, Repeated}, {pin, Applied}, {pin, Repeated}, {unpin, Applied}, {unpin, Repeated}, {pin, Applied}} {
		if got := r.Apply(step.frame); got != step.want {
			t.Fatalf("step %d: %d, want %d", i, got, step.want)
		}
	}
}

func TestAReadMarkNeverMovesBack(t *testing.T) {
	r := NewReducer()
	mark := func(seq int) HubWebSocketFrame {
		return frameOf(HubWebSocketFrameTypeMessageRead, fmt.Sprintf(`{"session_id":"s","user_id":"u","last_read_seq":%d}`, seq))
	}
	if a, b, c := r.Apply(mark(5)), r.Apply(mark(3)), r.Apply(mark(6)); a != Applied || b != Repeated || c != Applied {
		t.Fatalf("verdicts %d, %d, %d", a, b, c)
	}
}

func TestTheDigestOfARunIsThatOfItsLog(t *testing.T) {
	events := []RunEvent{
		{EventSeq: 1, WireType: "run.started", Payload: json.RawMessage(`{"started_at":"x"}`)},
		{EventSeq: 2, WireType: "run.agent.text_delta", Payload: json.RawMessage(`{"delta":"<\u2028 1.0"}`)},
		{EventSeq: 3, WireType: "run.finished", Payload: json.RawMessage(`{}`)},
	}
	r := NewReducer()
	for _, e := range events {
		r.Apply(streamFrame("run_1", e.EventSeq, e.WireType, string(e.Payload)))
	}
	want := LogDigest(events)
	if got := r.RunDigest("run_1"); got != want {
		t.Fatalf("digest %s, want %s", got, want)
	}
	events[1].Payload = json.RawMessage(`{"delta":"<\u2028 1.00"}`)
	if LogDigest(events) == want {
		t.Fatal("other bytes have the same digest")
	}
	if LogDigest(events[:2]) == want {
		t.Fatal("a shorter log has the same digest")
	}
}

func TestPresenceIsNoPartOfTheDigest(t *testing.T) {
	r := NewReducer()
	before := r.Digest()
	if got := r.Apply(frameOf(HubWebSocketFrameTypeDeviceOnline, `{"user_id":"u"}`)); got != Applied || r.Digest() != before {
		t.Fatalf("verdict %d, digest %s", got, r.Digest())
	}
}

// However a device is cut off and repeats from an earlier place, it ends where one ends that was never cut.
func TestRepeatedFramesLeaveTheSameSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frames := drawFrames(t)
		whole := NewReducer()
		for _, f := range frames {
			whole.Apply(f)
		}
		cut := NewReducer()
		for at := 0; at < len(frames); {
			end := rapid.IntRange(at+1, len(frames)).Draw(t, "end")
			for _, f := range frames[at:end] {
				cut.Apply(f)
			}
			if end == len(frames) {
				break
			}
			at = rapid.IntRange(max(0, end-4), end).Draw(t, "back to")
		}
		if whole.Digest() != cut.Digest() || whole.Len() != cut.Len() {
			t.Fatalf("digests differ: %s of %d, %s of %d", whole.Digest(), whole.Len(), cut.Digest(), cut.Len())
		}
	})
}

// drawFrames makes what one conversation sends: messages, the logs of two runs, their ends.
func drawFrames(t *rapid.T) []HubWebSocketFrame {
	seqs := map[string]int64{}
	var frames []HubWebSocketFrame
	for i := range rapid.IntRange(1, 40).Draw(t, "frames") {
		switch run := rapid.SampledFrom([]string{"run_1", "run_2"}).Draw(t, "run"); rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			frames = append(frames, frameOf(HubWebSocketFrameTypeMessageNew, fmt.Sprintf(`{"id":"msg_%d"}`, i)))
		case 1:
			frames = append(frames, frameOf(HubWebSocketFrameTypeAgentDone, fmt.Sprintf(`{"task_id":%q}`, run)))
		default:
			seqs[run]++
			frames = append(frames, streamFrame(run, seqs[run], "run.agent.text_delta", fmt.Sprintf(`{"delta":"%d"}`, i)))
		}
	}
	return frames
}
