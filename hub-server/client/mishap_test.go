package client

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
)

// mishaps are what happens to one client of a hub that has a history to tell.
type mishaps struct {
	rand    *rand.Rand
	history []HubWebSocketFrame // a frame without a cursor is inside of a step
	played  []scriptedConnection
}

// TestWhateverHappensToConnectionsEachFactIsToldOnceInOrder plays random mishaps: cuts, lost frames, repeated numbers, close codes. A seed that
// fails is in the name of the subtest.
func TestWhateverHappensToConnectionsEachFactIsToldOnceInOrder(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := &mishaps{rand: rand.New(rand.NewPCG(seed, 1))}
			s := m.scenario(t)
			synctest.Test(t, func(t *testing.T) { play(t, s) })
		})
	}
}

func (m *mishaps) scenario(t *testing.T) scenario {
	t.Helper()
	m.history = m.tell(20 + m.rand.IntN(40))
	for at := 0; at < len(m.history); {
		at = m.connection(t, at)
	}
	whole := NewReducer()
	want := outcome{Cursor: m.history[len(m.history)-1].Cursor, Marks: map[string]int64{}}
	for _, f := range m.history {
		if whole.Apply(f) == Applied {
			want.Told = append(want.Told, Key(f))
		}
	}
	want.Records, want.Marks, want.Digest = whole.Records(), whole.Marks(), whole.Digest()
	s := scenario{Connections: m.played, Want: want}
	s.Start.Cursor = "c0"
	return s
}

// tell makes a history of n frames: messages, edits, two runs that end.
func (m *mishaps) tell(n int) []HubWebSocketFrame {
	var all []HubWebSocketFrame
	events := map[string]int64{}
	for i := range n {
		run := fmt.Sprintf("run_%d", m.rand.IntN(2))
		var f HubWebSocketFrame
		switch m.rand.IntN(5) {
		case 0:
			f = frameOf(HubWebSocketFrameTypeMessageNew, fmt.Sprintf(`{"id":"msg_%d","session_id":"sess_1","seq_id":%d,"content":{"text":"%d"}}`, i, i+1, i))
		case 1:
			f = frameOf(HubWebSocketFrameTypeMessageRead, fmt.Sprintf(`{"session_id":"sess_1","user_id":"user_1","last_read_seq":%d}`, i))
		default:
			events[run]++
			f = streamFrame(run, events[run], "run.agent.text_delta", fmt.Sprintf(`{"delta":"%d"}`, i))
		}
		if i == n-1 || m.rand.IntN(3) > 0 {
			f.Cursor = fmt.Sprintf("c%d", i+1)
		}
		all = append(all, f)
	}
	return all
}

// connection plays one connection that begins behind the first at frames, and returns where the next one has to begin.
func (m *mishaps) connection(t *testing.T, at int) int {
	t.Helper()
	c := scriptedConnection{Cursor: "c0"}
	if at > 0 {
		c.Cursor = m.history[at-1].Cursor
	}
	seq := int64(1)
	send := func(f HubWebSocketFrame, seq int64) {
		f.SeqID = seq
		raw, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		c.Script = append(c.Script, step{Send: raw})
	}
	send(frameOf(HubWebSocketFrameTypeAuthOk, `{"resume":"replayed","connection_id":"conn_1"}`), seq)
	taken := at
	defer func() { m.played = append(m.played, c) }()
	for i := at; i < len(m.history); i++ {
		switch m.rand.IntN(12) {
		case 0: // an old number: not even a new fact counts
			send(frameOf(HubWebSocketFrameTypeMessageNew, `{"id":"msg_never"}`), 1+m.rand.Int64N(seq))
		case 1: // a frame is lost
			if i+1 < len(m.history) {
				send(m.history[i+1], seq+2)
				c.Script = append(c.Script, step{UntilClosed: true})
				return taken
			}
		case 2:
			c.Script = append(c.Script, step{Cut: true})
			return taken
		case 3:
			c.Script = append(c.Script, closing(4408+m.rand.IntN(2)))
			return taken
		}
		seq++
		send(m.history[i], seq)
		if m.history[i].Cursor != "" {
			taken = i + 1
		}
	}
	return len(m.history)
}

func closing(code int) step {
	var s step
	s.Close = &struct {
		Code   int
		Reason string
	}{code, "resume"}
	return s
}
