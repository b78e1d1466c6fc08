package card_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// stamp is a time as the protocol writes it.
type stamp time.Time

func (s stamp) IsZero() bool { return time.Time(s).IsZero() }

func (s stamp) MarshalText() ([]byte, error) {
	return time.Time(s).UTC().AppendFormat(nil, "2006-01-02T15:04:05.000Z"), nil
}

// envelope is card.Envelope for encoding/json.
type envelope struct {
	EventID      id.Event      `json:"event_id,omitempty"`
	SessionID    id.Session    `json:"session_id,omitempty"`
	TraceID      id.Trace      `json:"trace_id,omitempty"`
	CardID       string        `json:"card_id"`
	ParentCardID string        `json:"parent_card_id,omitempty"`
	CardKind     card.Kind     `json:"card_kind"`
	Seq          card.Seq      `json:"seq,omitempty"`
	Timestamp    stamp         `json:"timestamp,omitzero"`
	AgentID      string        `json:"agent_id,omitempty"`
	AgentRole    card.Role     `json:"agent_role,omitempty"`
	AgentRunID   id.Run        `json:"agent_run_id,omitempty"`
	Severity     card.Severity `json:"severity,omitempty"`
}

// TestAnEventIsWrittenAsTheLibraryWouldWriteIt holds the encoder of our own against encoding/json.
func TestAnEventIsWrittenAsTheLibraryWouldWriteIt(t *testing.T) {
	words := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "中文", "<&>", "\u2028", "a\u2029", "\x00", "\xff", "\"", `\`, "\x7f", "\n", "é\"", "😀"}))
	raws := rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`{}`), json.RawMessage(`{"a": 1.0, "b":[1e400 ,"<` + "\u2028" + `"]}`), json.RawMessage("\"\xff\"")})
	rapid.Check(t, func(t *rapid.T) {
		word := func(name string) string { return words.Draw(t, name) }
		v := envelope{
			EventID: id.Event(word("event")), SessionID: id.Session(word("session")), TraceID: id.Trace(word("trace")), CardID: word("card"),
			ParentCardID: word("parent"), CardKind: card.Kind(word("kind")), Seq: card.Seq(rapid.Uint64().Draw(t, "seq")),
			AgentID: word("agent"), AgentRole: card.Role(word("role")), AgentRunID: id.Run(word("run")), Severity: card.Severity(word("severity")),
		}
		if rapid.Bool().Draw(t, "timed") {
			v.Timestamp = stamp(time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "at")))
		}
		e := card.Event{Type: card.Type(word("type")), Envelope: card.Envelope{
			EventID: v.EventID, SessionID: v.SessionID, TraceID: v.TraceID, CardID: v.CardID, ParentCardID: v.ParentCardID, CardKind: v.CardKind, Seq: v.Seq,
			Timestamp: time.Time(v.Timestamp), AgentID: v.AgentID, AgentRole: v.AgentRole, AgentRunID: v.AgentRunID, Severity: v.Severity,
		}, Payload: raws.Draw(t, "payload")}
		if rapid.Bool().Draw(t, "hinted") {
			e.Hint, e.Metrics = &card.Hint{Title: word("title")}, &card.Metrics{CostUSD: rapid.Float64Range(0, 1e9).Draw(t, "cost")}
		}
		want, err := event.Encode(struct {
			Type     card.Type       `json:"type"`
			Envelope envelope        `json:"envelope"`
			Hint     *card.Hint      `json:"hint,omitempty"`
			Metrics  *card.Metrics   `json:"metrics,omitempty"`
			Payload  json.RawMessage `json:"payload"`
		}{e.Type, v, e.Hint, e.Metrics, e.Payload})
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Encode()
		if err != nil || string(got) != string(want)+"\n" {
			t.Fatalf("error %v\n got: %s\nwant: %s", err, got, want)
		}
	})
}

func TestAPieceOfTextIsWrittenAsTheLibraryWouldWriteIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := card.Trace{}
		channel := rapid.SampledFrom([]card.Channel{card.TextChannel, card.ThinkingChannel, card.ToolInputChannel}).Draw(t, "channel")
		text, index := rapid.String().Draw(t, "text"), rapid.IntRange(0, 2).Draw(t, "index")
		got := tr.At(time.Time{}, "").Append(card.Ref{}, channel, index, text).Payload
		p := card.AppendPayload{Channel: channel, Index: index, Chunk: text}
		if channel == card.ToolInputChannel {
			p.Chunk, p.PartialJSON = "", text
		}
		want, err := event.Encode(p)
		if err != nil || string(got) != string(want) {
			t.Fatalf("error %v\n got: %s\nwant: %s", err, got, want)
		}
	})
}
