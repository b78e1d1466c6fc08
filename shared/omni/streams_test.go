package omni_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// judged is a stream with what a checker and an aggregator make of it. Every SDK is held to the same file of them.
type judged struct {
	Name       string         `json:"name"`
	Stream     []omni.Message `json:"stream"`
	Breaches   []breachTold   `json:"breaches,omitempty"`
	Whole      []omni.Message `json:"whole,omitempty"`      // what the aggregator completes, the last ones by a flush
	Unreadable []int          `json:"unreadable,omitempty"` // messages that the aggregator refuses, from 1
}

// breachTold is a breach without its sentence, which is each SDK's own.
type breachTold struct {
	Number int       `json:"number"`
	Type   string    `json:"type"`
	Origin string    `json:"origin,omitempty"`
	Rule   omni.Rule `json:"rule"`
}

func judge(name string, stream []omni.Message) judged {
	j := judged{Name: name, Stream: stream}
	var found omni.Breaches
	if errors.As(omni.CheckStream(stream), &found) {
		for _, b := range found {
			j.Breaches = append(j.Breaches, breachTold{b.Number, b.Type, b.Origin, b.Rule})
		}
	}
	var a omni.Aggregator
	for i, m := range stream {
		done, err := a.Add(m)
		if err != nil {
			j.Unreadable = append(j.Unreadable, i+1)
		}
		j.Whole = append(j.Whole, done...)
	}
	done, _ := a.Flush() //nolint:errcheck // what is made of pieces can be written
	j.Whole = append(j.Whole, done...)
	return j
}

// line is not what json.Marshal makes of it, which would write the messages another way.
func (j judged) line(t *testing.T) []byte {
	t.Helper()
	text, err := event.Encode(j)
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

const streamsFile = "streams.jsonl"

func TestStreamsAreJudgedAsTheFileSays(t *testing.T) {
	if *update {
		var text []byte
		for _, j := range drawJudged(t) {
			text = append(text, j.line(t)...)
		}
		golden(t, streamsFile, text)
	}
	text, err := os.ReadFile(filepath.Join("testdata", streamsFile))
	if err != nil {
		t.Fatal(err)
	}
	broken := map[omni.Rule]bool{}
	cases := 0
	for line := range bytes.Lines(text) {
		var want judged
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		if got := judge(want.Name, want.Stream).line(t); !bytes.Equal(got, line) {
			t.Errorf("%s is judged\n%s\nwant\n%s", want.Name, got, line)
		}
		for _, b := range want.Breaches {
			broken[b.Rule] = true
		}
		cases++
	}
	for _, rule := range omni.Rules() {
		if !broken[rule] {
			t.Errorf("no stream of the file breaks the rule that %s", rule)
		}
	}
	if cases < len(mutations()) {
		t.Errorf("only %d streams", cases)
	}
}

// drawJudged has right streams, one for each mistake, and what is odd.
func drawJudged(t *testing.T) []judged {
	t.Helper()
	all := oddStreams(t)
	right := rapid.Custom(drawStream)
	for seed := range 4 {
		all = append(all, judge("right", right.Example(seed).stream))
	}
	for _, mutate := range mutations() {
		spoilt := rapid.Custom(func(t *rapid.T) []omni.Message {
			stream := drawStream(t).stream
			for i := range stream {
				if mutate.where(stream, i) {
					return mutate.do(t, slices.Clone(stream), i)
				}
			}
			return nil
		})
		for seed := 0; ; seed++ {
			if stream := spoilt.Example(seed); stream != nil && len(stream) < 25 {
				all = append(all, judge(mutate.name, stream))
				break
			}
		}
	}
	return all
}

// oddStreams are what an aggregator makes the best of, and what is not known.
func oddStreams(t *testing.T) []judged {
	t.Helper()
	partial := func(phase, text string) omni.Message {
		return read(t, `{"timestamp":"2026-07-18T07:30:00Z","type":"model_msg","payload":{"type":"partial_text","role":"assistant","event_type":"`+phase+`","text":"`+text+`"}}`)
	}
	all := []judged{
		judge("a character may be cut", []omni.Message{
			partial("start", ""), partial("delta", `a\ud83d`), partial("delta", `\ude00`), partial("stop", ""), made(t, omni.AssistantText("a😀")),
		}),
		judge("a fragment that cannot be read, and types that are not known", []omni.Message{
			read(t, `{"timestamp":"2026-07-18T07:30:00Z","type":"model_msg","payload":{"type":"partial_text","role":"assistant","event_type":"delta","text":[]}}`),
			read(t, `{"timestamp":"2026-07-18T07:30:00Z","type":"model_msg","payload":{"type":"partial_audio","role":"assistant","event_type":"delta"}}`),
			read(t, `{"timestamp":"2026-07-18T07:30:00Z","type":"note","payload":{"type":"text","z":1.0}}`),
			read(t, `{"timestamp":"2026-07-18T07:30:00Z","type":"event_msg","payload":{"type":"text","text":""}}`),
			read(t, `{"timestamp":"2026-07-18T07:30:00+02:00","type":"event_msg","payload":{"type":"request_end","status":"completed","attempt":1.5},"origin":[]}`),
		}),
	}
	for _, c := range aggregatorCases() {
		stream := make([]omni.Message, len(c.stream))
		for i, p := range c.stream {
			stream[i] = made(t, p)
		}
		all = append(all, judge(c.name, stream))
	}
	for name, p := range payloads() {
		all = append(all, judge(name, []omni.Message{made(t, p)}))
	}
	slices.SortFunc(all[2:], func(a, b judged) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	return all
}
