package omni_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

func TestRightStreamsPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := omni.CheckStream(drawStream(t).stream); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAggregatedStreamsAreTheirCompleteMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawStream(t)
		var a omni.Aggregator
		var got []omni.Message
		for _, m := range d.stream {
			done, err := a.Add(m)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, done...)
		}
		same := func(x, y omni.Message) bool { return bytes.Equal(x.Bytes(), y.Bytes()) }
		if !slices.EqualFunc(got, d.streamed, same) {
			t.Fatalf("got %s\nwant %s", lines(got), lines(d.streamed))
		}
		if left, err := a.Flush(); left != nil || err != nil {
			t.Fatalf("left: %s, %v", lines(left), err)
		}
	})
}

func lines(messages []omni.Message) (text []byte) {
	for _, m := range messages {
		text = append(text, m.Line()...)
	}
	return text
}

// mutation spoils a stream at a place, so that a rule is broken.
type mutation struct {
	name  string
	rule  omni.Rule
	where func(stream []omni.Message, i int) bool // may it be done at i?
	do    func(t *rapid.T, stream []omni.Message, i int) []omni.Message
}

func mutations() []mutation {
	return []mutation{
		{"no start", omni.RuleStart, phase(omni.Start), drop},
		{"start twice", omni.RuleOneOpen, phase(omni.Start), twice},
		{"content in start", omni.RuleDeltas, phase(omni.Start), set("Text", "Thinking", "Arguments", "Output")},
		{"content in stop", omni.RuleDeltas, phase(omni.Stop), set("Text", "Thinking", "Arguments", "Output")},
		{"images in stop", omni.RuleDeltas, both(phase(omni.Stop), has("partial_tool_call_output")), with(func(p *omni.PartialToolCallOutputPayload) { p.Images = []string{image} })},
		{"no stop", omni.RuleClosed, phase(omni.Stop), drop},
		{"no stop and nothing complete", omni.RuleClosed, phase(omni.Stop), dropBoth},
		{"nothing complete", omni.RuleFollow, phase(omni.Stop), dropNext},
		{"something between", omni.RuleFollow, phase(omni.Stop), insertAfter(omni.UserText("x"))},
		{"an event between", omni.RuleFollow, phase(omni.Stop), insertAfter(omni.Subagent("s"))},
		{"no delta", omni.RuleContent, filled, drop},
		{"delta twice", omni.RuleContent, filled, twice},
		{"more in the complete message", omni.RuleContent, afterStop, set("Text", "Thinking", "Arguments", "Output")},
		{"another name", omni.RuleContent, both(afterStop, has("tool_call")), set("Name")},
		{"fewer images", omni.RuleContent, both(afterStop, withImages), with(func(p *omni.ToolCallOutputPayload) { p.Images = p.Images[1:] })},
		{"another end of the complete message", omni.RuleReason, afterStop, otherReason},
		{"another end of the fragment", omni.RuleReason, phase(omni.Stop), otherReason},
		{"images twice", omni.RuleImages, both(phase(omni.Delta), withImages), twice},
		{"unknown role", omni.RuleShape, afterStop, otherRole},
		{"meta in the middle", omni.RuleMeta, has("request_begin"), insertAfter(sessionMeta())},
		{"meta twice", omni.RuleMeta, has(""), twice},
		{"call twice", omni.RulePairs, has("tool_call"), twice},
		{"output twice", omni.RulePairs, has("tool_call_output"), twice},
		{"output of no call", omni.RulePairs, has("request_end"), insertAfter(omni.ToolCallOutput("no", ""))},
		{"fragments of output of no call", omni.RulePairs, has("request_end"), insertAfter(omni.PartialToolCallOutput(omni.Start, "no", ""))},
		{"no output", omni.RulePairs, owed, drop},
		{"approval of no call", omni.RuleApproval, has("request_end"), insertAfter(omni.ApprovalDecision("no", omni.Deny))},
		{"request twice", omni.RuleRequest, has("request_begin"), twice},
		{"no end of a request", omni.RuleRequest, notAborted(has("request_end")), drop},
		{"no request", omni.RuleRequest, has("request_begin"), drop},
		{"usage that jumps", omni.RuleUsage, later("token_usage"), with(func(p *omni.TokenUsagePayload) { p.Session.Output++ })},
		{"usage twice", omni.RuleUsage, has("token_usage"), twice},
		{"compaction twice", omni.RuleCompacted, has("compaction_begin"), twice},
		{"no end of a compaction", omni.RuleCompacted, has("compaction_end"), drop},
		{"another end of a compaction", omni.RuleCompacted, has("compaction_end"), with(func(p *omni.CompactionEndPayload) { p.Mode = omni.Discard })},
		{"another reason of a compaction", omni.RuleCompacted, has("compaction_end"), with(func(p *omni.CompactionEndPayload) { p.Reason = omni.Manual })},
		{"no compaction", omni.RuleCompacted, has("compaction_begin"), drop},
	}
}

func TestEachMistakeIsNamed(t *testing.T) {
	done := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		stream := drawStream(t).stream
		third := rapid.IntRange(0, 2).Draw(t, "third")
		for n, mutate := range mutations() {
			if n%3 != third {
				continue
			}
			var places []int
			for i := range stream {
				if mutate.where(stream, i) {
					places = append(places, i)
				}
			}
			if len(places) == 0 {
				continue
			}
			done[mutate.name]++
			i := rapid.SampledFrom(places).Draw(t, mutate.name)
			spoilt := mutate.do(t, slices.Clone(stream), i)
			var found omni.Breaches
			if err := omni.CheckStream(spoilt); !errors.As(err, &found) || !broke(found, mutate.rule, i) {
				t.Fatalf("%s: message %d was spoilt, and %v was told of\n%s", mutate.name, i+1, err, lines(spoilt))
			}
		}
	})
	covered := map[omni.Rule]bool{}
	for _, mutate := range mutations() {
		covered[mutate.rule] = true
		if done[mutate.name] == 0 {
			t.Errorf("%s: never done", mutate.name)
		}
	}
	for _, rule := range omni.Rules() {
		if !covered[rule] {
			t.Errorf("nothing breaks the rule that %s", rule)
		}
	}
}

// broke says whether a rule was broken, not before message i, which is spoilt.
func broke(found omni.Breaches, rule omni.Rule, i int) bool {
	return found[0].Number > i && slices.ContainsFunc(found, func(b omni.Breach) bool { return b.Rule == rule })
}

// The places.

func has(kind omni.PayloadType) func([]omni.Message, int) bool {
	return func(stream []omni.Message, i int) bool { return stream[i].PayloadType() == kind }
}

func both(a, b func([]omni.Message, int) bool) func([]omni.Message, int) bool {
	return func(stream []omni.Message, i int) bool { return a(stream, i) && b(stream, i) }
}

func phase(e omni.StreamEvent) func([]omni.Message, int) bool {
	return func(stream []omni.Message, i int) bool {
		f := fieldOf(stream[i], "EventType")
		return f.IsValid() && f.String() == string(e)
	}
}

// filled is a delta with content.
func filled(stream []omni.Message, i int) bool {
	if !phase(omni.Delta)(stream, i) {
		return false
	}
	for _, name := range []string{"Text", "Thinking", "Arguments", "Output"} {
		if f := fieldOf(stream[i], name); f.IsValid() && f.Len() > 0 {
			return true
		}
	}
	return false
}

func afterStop(stream []omni.Message, i int) bool {
	return i > 0 && phase(omni.Stop)(stream, i-1) && !stream[i].IsPartial()
}

func withImages(stream []omni.Message, i int) bool {
	f := fieldOf(stream[i], "Images")
	return f.IsValid() && f.Len() > 0
}

// later is not the first of its kind in its session.
func later(kind omni.PayloadType) func([]omni.Message, int) bool {
	return func(stream []omni.Message, i int) bool {
		same := func(m omni.Message) bool {
			return m.PayloadType() == kind && slices.Equal(m.Origin(), stream[i].Origin())
		}
		return same(stream[i]) && slices.ContainsFunc(stream[:i], same)
	}
}

// notAborted is that nothing is stopped later, which would settle what is owed.
func notAborted(where func([]omni.Message, int) bool) func([]omni.Message, int) bool {
	return func(stream []omni.Message, i int) bool {
		return where(stream, i) && !slices.ContainsFunc(stream[i:], func(m omni.Message) bool { return m.PayloadType() == omni.TypeAbort })
	}
}

func owed(stream []omni.Message, i int) bool {
	return notAborted(has("tool_call_output"))(stream, i) && !afterStop(stream, i)
}

func fieldOf(m omni.Message, name string) reflect.Value {
	if name == "EventType" && !m.IsPartial() || name == "Images" && !strings.HasSuffix(string(m.PayloadType()), "output") {
		return reflect.Value{}
	}
	body, err := m.Body()
	if err != nil || body == nil {
		return reflect.Value{}
	}
	return reflect.ValueOf(body).FieldByName(name)
}

// What is done there.

func drop(_ *rapid.T, stream []omni.Message, i int) []omni.Message {
	return slices.Delete(stream, i, i+1)
}

func dropNext(_ *rapid.T, stream []omni.Message, i int) []omni.Message {
	return slices.Delete(stream, i+1, i+2)
}

func dropBoth(_ *rapid.T, stream []omni.Message, i int) []omni.Message {
	return slices.Delete(stream, i, i+2)
}

func twice(_ *rapid.T, stream []omni.Message, i int) []omni.Message {
	return slices.Insert(stream, i, stream[i])
}

func insertAfter(p omni.Payload) func(*rapid.T, []omni.Message, int) []omni.Message {
	return func(t *rapid.T, stream []omni.Message, i int) []omni.Message {
		return slices.Insert(stream, i+1, via(t, p, stream[i].Origin()))
	}
}

// with changes a payload.
func with[P omni.Payload](change func(*P)) func(*rapid.T, []omni.Message, int) []omni.Message {
	return func(t *rapid.T, stream []omni.Message, i int) []omni.Message {
		body, err := stream[i].Body()
		p, ok := body.(P)
		if err != nil || !ok {
			t.Fatalf("%T is no %T", body, p)
		}
		change(&p)
		stream[i] = via(t, p, stream[i].Origin())
		return stream
	}
}

// set adds to the first of some fields that the payload has.
func set(names ...string) func(*rapid.T, []omni.Message, int) []omni.Message {
	return func(t *rapid.T, stream []omni.Message, i int) []omni.Message {
		return edit(t, stream, i, names, func(old string) string { return old + "!" })
	}
}

func otherReason(t *rapid.T, stream []omni.Message, i int) []omni.Message {
	return edit(t, stream, i, []string{"StopReason"}, func(old string) string {
		if old == string(omni.Aborted) {
			return string(omni.Timeout)
		}
		return string(omni.Aborted)
	})
}

func otherRole(t *rapid.T, stream []omni.Message, i int) []omni.Message {
	m, err := omni.Decode(bytes.Replace(stream[i].Bytes(), []byte(`"role":"`), []byte(`"role":"a `), 1))
	if err != nil {
		t.Fatal(err)
	}
	stream[i] = m
	return stream
}

// edit changes a field.
func edit(t *rapid.T, stream []omni.Message, i int, names []string, change func(string) string) []omni.Message {
	body, err := stream[i].Body()
	if err != nil {
		t.Fatal(err)
	}
	changed := reflect.New(reflect.TypeOf(body)).Elem()
	changed.Set(reflect.ValueOf(body))
	for _, name := range names {
		if f := changed.FieldByName(name); f.IsValid() {
			f.SetString(change(f.String()))
			break
		}
	}
	stream[i] = via(t, changed.Interface().(omni.Payload), stream[i].Origin())
	return stream
}
