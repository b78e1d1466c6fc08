package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

const theRun = "run_9f2c1b7ad0e44c55"

func events(n int) []client.RunEvent {
	log := make([]client.RunEvent, n)
	for i := range log {
		log[i] = client.RunEvent{RunID: theRun, EventSeq: int64(i + 1), WireType: "run.agent.text_delta", Payload: fmt.Appendf(nil, `{"delta":"%d"}`, i)}
	}
	return log
}

// watched returns what a device has seen that was sent these events.
func watched(t *testing.T, log []client.RunEvent) *seen {
	t.Helper()
	d := newSeen()
	for _, e := range log {
		payload, err := json.Marshal(client.AgentStreamPayload{TaskID: theRun, EventSeq: e.EventSeq, EventType: e.WireType, Payload: string(e.Payload)})
		if err != nil {
			t.Fatal(err)
		}
		frame := client.HubWebSocketFrame{Type: client.HubWebSocketFrameTypeAgentStream, Payload: payload}
		if err := d.take(line{Key: client.Key(frame), HubWebSocketFrame: frame}); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestTheVerdictFallsForWhatIsIdenticalAlone(t *testing.T) {
	whole := events(5)
	changed := events(5)
	changed[2].Payload = json.RawMessage(`{"delta":"another"}`)
	twice := append(append([]client.RunEvent{}, whole[:4]...), whole[2:]...)
	for _, c := range []struct {
		name      string
		a, b, log []client.RunEvent
		want      bool
	}{
		{"the same", whole, whole, whole, true},
		{"frames that came twice", twice, whole, whole, true},
		{"a lost its end", whole[:4], whole, whole, false},
		{"both lost their end", whole[:4], whole[:4], whole, false},
		{"the log lost its end", whole, whole, whole[:4], false},
		{"b saw something else", whole, changed, whole, false},
		{"the log says something else", whole, whole, changed, false},
		{"nothing happened", nil, nil, nil, false},
	} {
		v := verdict{a: watched(t, c.a), b: watched(t, c.b), runs: []client.RunID{theRun}, logs: map[client.RunID][]client.RunEvent{theRun: c.log}}
		if got := v.identical(); got != c.want {
			t.Errorf("%s: identical = %v, want %v", c.name, got, c.want)
		}
	}
	if (verdict{a: newSeen(), b: newSeen()}).identical() {
		t.Error("no run at all counts as identical")
	}
}

func TestAHoleInARunIsNoticedAtOnce(t *testing.T) {
	d := newSeen()
	payload := []byte(`{"task_id":"` + theRun + `","event_seq":2,"event_type":"x","payload":"{}"}`)
	frame := client.HubWebSocketFrame{Type: client.HubWebSocketFrameTypeAgentStream, Payload: payload}
	if err := d.take(line{Key: client.Key(frame), HubWebSocketFrame: frame}); err == nil {
		t.Error("an event came before the one in front of it, and nobody noticed")
	}
}
