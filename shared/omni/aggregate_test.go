package omni_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// aggregated returns what an aggregator makes of payloads, one second after the other, and of a flush.
func aggregated(t *testing.T, stream ...omni.Payload) (done, flushed []string) {
	t.Helper()
	var a omni.Aggregator
	text := func(messages []omni.Message, err error) (lines []string) {
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			lines = append(lines, m.Time().Format("05 ")+string(m.Payload()))
		}
		return lines
	}
	for i, p := range stream {
		m, err := omni.New(at.Truncate(time.Minute).Add(time.Duration(i)*time.Second), p)
		if err != nil {
			t.Fatal(err)
		}
		done = append(done, text(a.Add(m))...)
	}
	flushed = text(a.Flush())
	if again := text(a.Flush()); again != nil {
		t.Errorf("flushed again: %q", again)
	}
	return done, flushed
}

// aggregatorCase is what an aggregator makes of payloads, and of a flush.
type aggregatorCase struct {
	name          string
	stream        []omni.Payload
	done, flushed []string
}

func aggregatorCases() []aggregatorCase {
	aborted := func(p omni.PartialTextPayload) omni.Payload {
		p.StopReason = omni.Aborted
		return p
	}
	const (
		ab  = `{"type":"text","role":"assistant","text":"ab"}`
		cd  = `{"type":"text","role":"assistant","text":"cd"}`
		out = `{"type":"tool_call_output","role":"user","output":`
	)
	return []aggregatorCase{
		{
			name: "a start completes what is open",
			stream: []omni.Payload{
				omni.PartialText(omni.Start, ""), omni.PartialText(omni.Delta, "ab"), omni.PartialText(omni.Start, ""), omni.PartialText(omni.Delta, "cd"),
				omni.PartialText(omni.Stop, ""),
			},
			done: []string{"01 " + ab, "04 " + cd},
		},
		{
			name:   "a delta and a stop need no start",
			stream: []omni.Payload{omni.PartialText(omni.Delta, "ab"), omni.PartialText(omni.Stop, ""), omni.PartialThinking(omni.Stop, "x")},
			done:   []string{"01 " + ab, `02 {"type":"thinking","role":"assistant","thinking":"x"}`},
		},
		{
			name: "the later set of images counts",
			stream: []omni.Payload{
				omni.PartialToolCallOutput(omni.Delta, "1", "a", image, image), omni.PartialToolCallOutput(omni.Delta, "1", "b", image),
				omni.PartialToolCallOutput(omni.Delta, "1", "c"), omni.PartialToolCallOutput(omni.Stop, "1", ""),
			},
			done: []string{"03 " + out + `"abc","images":["` + image + `"],"tool_call_id":"1"}`},
		},
		{
			name: "the newest name that is not empty counts",
			stream: []omni.Payload{
				omni.PartialToolCall(omni.Start, "1", "ba", ""), omni.PartialToolCall(omni.Delta, "1", "bash", "{"), omni.PartialToolCall(omni.Delta, "1", "", "}"),
				omni.PartialToolCall(omni.Stop, "1", "", ""),
			},
			done: []string{`03 {"type":"tool_call","role":"assistant","name":"bash","arguments":"{}","tool_call_id":"1"}`},
		},
		{
			name: "calls, and types, are apart",
			stream: []omni.Payload{
				omni.PartialToolCallOutput(omni.Start, "1", ""), omni.PartialToolCallOutput(omni.Delta, "2", "b"), omni.PartialToolCallOutput(omni.Delta, "1", "a"),
				omni.PartialToolCall(omni.Delta, "1", "bash", "x"), omni.PartialToolCallOutput(omni.Stop, "2", ""), omni.PartialToolCallOutput(omni.Stop, "1", ""),
				omni.PartialToolCall(omni.Stop, "1", "", ""),
			},
			done: []string{
				"04 " + out + `"b","tool_call_id":"2"}`, "05 " + out + `"a","tool_call_id":"1"}`,
				`06 {"type":"tool_call","role":"assistant","name":"bash","arguments":"x","tool_call_id":"1"}`,
			},
		},
		{
			name: "a flush completes in the order of the starts, for the newest reason",
			stream: []omni.Payload{
				omni.PartialToolCall(omni.Start, "1", "bash", ""), omni.PartialThinking(omni.Start, ""), omni.PartialText(omni.Start, ""),
				aborted(omni.PartialText(omni.Delta, "ab")), omni.PartialText(omni.Delta, "cd"), omni.PartialToolCall(omni.Delta, "1", "", "{"),
			},
			flushed: []string{
				`05 {"type":"tool_call","role":"assistant","name":"bash","arguments":"{","tool_call_id":"1"}`,
				`01 {"type":"thinking","role":"assistant","thinking":""}`,
				`04 {"type":"text","role":"assistant","text":"abcd","stop_reason":"aborted"}`,
			},
		},
		{
			name: "a complete message takes the place of its fragment, and of no other",
			stream: []omni.Payload{
				omni.PartialText(omni.Delta, "ab"), omni.PartialThinking(omni.Delta, "x"), omni.UserText("ab"), omni.RequestBegin(), omni.Thinking("x", nil),
			},
			flushed: []string{"00 " + ab},
		},
	}
}

func TestTheAggregatorTakesWhatComes(t *testing.T) {
	for _, c := range aggregatorCases() {
		t.Run(c.name, func(t *testing.T) {
			done, flushed := aggregated(t, c.stream...)
			if got, want := strings.Join(done, "\n"), strings.Join(c.done, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if got, want := strings.Join(flushed, "\n"), strings.Join(c.flushed, "\n"); got != want {
				t.Errorf("flushed\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestACharacterMayBeCut has two halves of a character in two deltas, as programs write them whose strings are UTF-16.
func TestACharacterMayBeCut(t *testing.T) {
	partial := func(event, text string) omni.Message {
		return read(t, `{"timestamp":"2026-07-18T07:30:00Z","type":"model_msg","payload":{"type":"partial_text","role":"assistant","event_type":"`+event+`","text":"`+text+`"}}`)
	}
	stream := []omni.Message{partial("start", ""), partial("delta", `a\ud83d`), partial("delta", `\ude00`), partial("stop", ""), made(t, omni.AssistantText("a😀"))}
	if err := omni.CheckStream(stream); err != nil {
		t.Error(err)
	}
	var a omni.Aggregator
	var got []omni.Message
	for _, m := range stream {
		done, err := a.Add(m)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, done...)
	}
	if len(got) != 1 || string(got[0].Payload()) != `{"type":"text","role":"assistant","text":"a😀"}` {
		t.Errorf("%s", lines(got))
	}
}

func TestTheAggregatorIsBounded(t *testing.T) {
	a := omni.Bounded(8)
	piece := made(t, omni.PartialText(omni.Delta, "abcd"))
	for i := range 3 {
		if _, err := a.Add(piece); errors.Is(err, omni.ErrTooLarge) != (i == 2) {
			t.Fatalf("piece %d: %v", i+1, err)
		}
	}
	done, err := a.Add(made(t, omni.PartialText(omni.Stop, "")))
	if err != nil || len(done) != 1 || string(done[0].Payload()) != `{"type":"text","role":"assistant","text":"abcdabcd"}` {
		t.Errorf("%s, %v", lines(done), err)
	}
	bad := read(t, `{"type":"model_msg","payload":{"type":"partial_text","text":[]}}`)
	if _, err := a.Add(bad); !errors.Is(err, omni.ErrPayload) {
		t.Errorf("%v", err)
	}
}

// FuzzStream gives lines of anybody to both ends of a stream: what an aggregator makes can be read, whatever it was made of.
func FuzzStream(f *testing.F) {
	for name := range payloads() {
		f.Add(made(f, payloads()[name]).Line())
	}
	f.Add([]byte(`{"type":"model_msg","payload":{"type":"partial_tool_call_output","event_type":"stop","images":["x"]},"origin":["a","b"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var stream, done []omni.Message
		var a omni.Aggregator
		for line := range bytes.Lines(text) {
			m, err := omni.Decode(line)
			if err != nil {
				continue
			}
			stream = append(stream, m)
			made, err := a.Add(m)
			if err != nil && !errors.Is(err, omni.ErrPayload) && !errors.Is(err, omni.ErrTooLarge) {
				t.Fatalf("%q: %v", line, err)
			}
			done = append(done, made...)
		}
		flushed, err := a.Flush()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		for _, m := range append(done, flushed...) {
			body, err := m.Body()
			if err != nil || !m.IsCompleteModelMessage() || body == nil {
				t.Fatalf("%q became %q, %v", text, m.Bytes(), err)
			}
		}
		if err := omni.CheckStream(stream); err != nil && err.Error() == "" {
			t.Fatal("a breach without a word")
		}
	})
}
