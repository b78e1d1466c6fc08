package omni_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	omnifold "github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

const conversationID = id.Session("sess_0000000000000001")

func fold(facts []omnifold.Fact) []omni.Message {
	s := omnifold.New(conversationID)
	var out []omni.Message
	for _, f := range facts {
		out = append(out, s.Apply(f)...)
	}
	return out
}

func joined(stream []omni.Message) []byte {
	var b bytes.Buffer
	for _, m := range stream {
		b.Write(m.Line())
	}
	return b.Bytes()
}

func bodyOf(t *rapid.T, m omni.Message) omni.Payload {
	body, err := m.Body()
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestStreamsKeepTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := fold(conversation(t))
		if err := omni.CheckStream(stream); err != nil {
			t.Fatalf("%v\n%s", err, joined(stream))
		}
		checkPairs(t, stream)
		checkOrigins(t, stream)
		checkAggregates(t, stream)
	})
}

// checkPairs wants one output for each call, also of requests that failed and runs that were stopped, and decisions about it before that.
func checkPairs(t *rapid.T, stream []omni.Message) {
	open := map[string]bool{}
	for _, m := range stream {
		origin := string(bytes.Join(originOf(m), []byte("/"))) + " "
		switch b := bodyOf(t, m).(type) {
		case omni.ToolCallPayload:
			open[origin+b.ToolCallID] = true
		case omni.ToolCallOutputPayload:
			if !open[origin+b.ToolCallID] {
				t.Fatalf("an output too many: %s", m.Bytes())
			}
			delete(open, origin+b.ToolCallID)
		case omni.ApprovalDecisionPayload:
			if !open[origin+b.ToolCallID] {
				t.Fatalf("a decision about no open call: %s", m.Bytes())
			}
		}
	}
	if len(open) > 0 {
		t.Fatalf("no output of %v\n%s", open, joined(stream))
	}
}

func originOf(m omni.Message) [][]byte {
	var out [][]byte
	for _, session := range m.Origin() {
		out = append(out, []byte(session))
	}
	return out
}

// checkOrigins wants a pointer in the session above before a session speaks, and its meta first, with its own name.
func checkOrigins(t *rapid.T, stream []omni.Message) {
	known := [][]string{nil}
	is := func(chain []string) func([]string) bool {
		return func(other []string) bool { return slices.Equal(chain, other) }
	}
	introduced := map[string]bool{}
	for _, m := range stream {
		origin := m.Origin()
		if !slices.ContainsFunc(known, is(origin)) {
			t.Fatalf("nothing points at %v\n%s", origin, joined(stream))
		}
		want := string(conversationID)
		if len(origin) > 0 {
			want = origin[len(origin)-1]
		}
		switch b := bodyOf(t, m).(type) {
		case omni.SubagentPayload:
			below := append(slices.Clone(origin), b.SessionID)
			if slices.ContainsFunc(known, is(below)) {
				t.Fatalf("%v begins twice", below)
			}
			known = append(known, below)
		case omni.SessionMetaPayload:
			if b.SessionID != want || (b.Source == omni.FromSubagent) && len(origin) == 0 {
				t.Fatalf("meta of %v: %+v", origin, b)
			}
			introduced[want] = true
			continue
		}
		if !introduced[want] {
			t.Fatalf("%v speaks before its meta: %s", origin, m.Bytes())
		}
	}
}

// checkAggregates wants the fragments to add up to the complete messages, each of the model's words among them, but for what its provider attached.
func checkAggregates(t *rapid.T, stream []omni.Message) {
	var a omni.Aggregator
	var made, told []string
	shown := map[string]bool{} // the strands that are open
	for _, m := range stream {
		done, err := a.Add(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range done {
			made = append(made, gist(t, d))
		}
		strand := strandOf(t, m)
		switch {
		case m.IsPartial():
			shown[strand] = true
		case shown[strand], mustShow(bodyOf(t, m)):
			delete(shown, strand)
			told = append(told, gist(t, m))
		}
	}
	if open, err := a.Flush(); err != nil || len(open) > 0 {
		t.Fatalf("left open: %s %v", joined(open), err)
	}
	if !slices.Equal(made, told) {
		t.Fatalf("fragments add up to\n%s\nand told was\n%s", strings.Join(made, "\n"), strings.Join(told, "\n"))
	}
}

// mustShow says whether a complete message has been streamed, whatever it says.
func mustShow(p omni.Payload) bool {
	text, ok := p.(omni.TextPayload)
	_, thinking := p.(omni.ThinkingPayload)
	return thinking || ok && text.Role == omni.Assistant
}

func strandOf(t *rapid.T, m omni.Message) string {
	var p struct {
		Type, Call, Role string
	}
	if err := json.Unmarshal(m.Payload(), &struct {
		Type *string `json:"type"`
		Call *string `json:"tool_call_id"`
		Role *string `json:"role"`
	}{&p.Type, &p.Call, &p.Role}); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(m.Origin(), p.Role, strings.TrimPrefix(p.Type, "partial_"), p.Call)
}

// gist is a message without its fidelity.
func gist(t *rapid.T, m omni.Message) string {
	body := bodyOf(t, m)
	switch b := body.(type) {
	case omni.TextPayload:
		b.Fidelity = nil
		body = b
	case omni.ThinkingPayload:
		b.Fidelity = nil
		body = b
	case omni.ToolCallPayload:
		b.Fidelity = nil
		body = b
	}
	return fmt.Sprintf("%s %v %+v", m.Timestamp(), m.Origin(), body)
}

func TestASecondFoldAndARestoredOneSayTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		facts := conversation(t)
		want := joined(fold(facts))
		if got := joined(fold(facts)); !bytes.Equal(got, want) {
			t.Fatalf("the second time:\n%s\nthe first time:\n%s", got, want)
		}
		s := omnifold.New(conversationID)
		var got []omni.Message
		for _, f := range facts {
			if rapid.IntRange(0, 4).Draw(t, "restore") == 0 {
				s = restored(t, s)
			}
			got = append(got, s.Apply(f)...)
			if again := s.Apply(f); again != nil {
				t.Fatalf("applied twice: %s", joined(again))
			}
		}
		if !bytes.Equal(joined(got), want) {
			t.Fatalf("restored:\n%s\nwant\n%s", joined(got), want)
		}
	})
}

func restored(t rapid.TB, s *omnifold.State) *omnifold.State {
	form, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := omnifold.Restore(form)
	if err != nil {
		t.Fatal(err)
	}
	if again.Place() != s.Place() {
		t.Fatalf("place %d, want %d", again.Place(), s.Place())
	}
	return again
}

// What becomes of a message on which a state does not depend, changes nothing of what is told from there on.
func TestAStateDependsOnTheWordsOfNoMessagesButTheLooseOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		facts := crowded(t, conversation(t))
		message := rapid.SampledFrom(saidBy(facts)).Draw(t, "message")
		changed := slices.Clone(facts)
		now := rapid.SampledFrom([]string{"", "else", strings.Repeat("x", 1<<20)}).Draw(t, "now")
		changed[message-1].Message = &omnifold.Message{Text: now, Files: rapid.SampledFrom([][]omnifold.File{nil, {{Name: "a", URL: "data:,a"}}}).Draw(t, "files")}
		before, after := omnifold.New(conversationID), omnifold.New(conversationID)
		for i, f := range facts {
			before.Apply(f)
			after.Apply(changed[i])
			if from, to := before.Loose(); f.Place < message || from <= message && message <= to {
				continue
			}
			if got, want := encoded(t, after), encoded(t, before); !bytes.Equal(got, want) {
				t.Fatalf("message %d says %.10q; at place %d the state is\n%s\nwith what it said before\n%s", message, now, f.Place, got, want)
			}
		}
	})
}

func encoded(t *rapid.T, s *omnifold.State) []byte {
	state, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// crowded has people say much between facts, at some of which contexts end.
func crowded(t *rapid.T, facts []omnifold.Fact) (all []omnifold.Fact) {
	add := func(f omnifold.Fact) {
		f.Place, f.At = int64(len(all)+1), facts[0].At
		all = append(all, f)
	}
	for _, f := range facts {
		if rapid.IntRange(0, len(facts)/2).Draw(t, "crowd") == 0 || len(all) == 0 {
			for range rapid.SampledFrom([]int{1, 3, 64, 65, 70}).Draw(t, "said") {
				add(omnifold.Fact{Message: &omnifold.Message{Text: "Hello."}})
			}
		}
		if f.Run.ID != "" && rapid.IntRange(0, 5).Draw(t, "compacted") == 0 {
			add(omnifold.Fact{Run: f.Run, Event: event.ContextCompaction, Payload: json.RawMessage(`{}`)})
		}
		add(f)
	}
	return all
}

// saidBy is where people say something.
func saidBy(facts []omnifold.Fact) (places []int64) {
	for _, f := range facts {
		if f.Message != nil && !f.Message.ByAgent {
			places = append(places, f.Place)
		}
	}
	return places
}
