package card

import (
	"cmp"
	"encoding/json"
	"regexp"
	"time"
)

// Language is that of the sentences that the hub puts into a trace: titles of cards, and what people read of errors. A trace is written once
// for all who read it, so its language is the hub's and not a reader's.
type Language string

// The languages. The zero Language is Chinese, in which the protocol defines its default sentences (facts 0.4).
const (
	Chinese Language = "zh"
	English Language = "en"
)

// label is a text in both languages.
type label struct{ zh, en string }

func (l label) in(lang Language) string {
	if lang == English {
		return l.en
	}
	return l.zh
}

func same(text string) label { return label{zh: text, en: text} }

// Meta is what is known of all cards of a kind (facts 0.3).
type Meta struct {
	Icon    string
	Role    Role          // of who makes such a card, where nobody says
	Timeout time.Duration // after how long without a sign of life it counts as orphaned; 0: it is never watched
	title   label
}

// Tracked says whether a card of the kind is watched and closed at the latest when its run ends.
func (m Meta) Tracked() bool { return m.Timeout > 0 }

// Lookup returns what is known of a kind, and what to make of one that is not known: it is shown by its name and never watched.
func Lookup(kind Kind) Meta {
	if m, ok := registry[kind]; ok {
		return m
	}
	return Meta{Icon: "default", Role: SystemRole, title: same(string(kind))}
}

// registry has a title for every kind, also where facts 0.3 has none: S0 §3.3 says that a hint has one.
var registry = map[Kind]Meta{
	Agent:    {Icon: "agent", Role: Worker, Timeout: 600 * time.Second, title: same("{name}")},
	Artifact: {Icon: "artifact", Role: Worker, title: same("{name}")},
	Budget:   {Icon: "warning", Role: SystemRole, title: label{"预算提醒", "Budget notice"}},
	MemoryOp: {Icon: "memory", Role: SystemRole, title: label{"记忆操作", "Memory"}},
	Message:  {Icon: "chat", Role: Persona, Timeout: 300 * time.Second, title: label{"消息", "Message"}},
	Plan:     {Icon: "plan", Role: Orchestrator, Timeout: 600 * time.Second, title: label{"计划", "Plan"}},
	Step:     {Icon: "dispatch", Role: Orchestrator, Timeout: 300 * time.Second, title: label{"步骤：{subagent_type}", "Step: {subagent_type}"}},
	System:   {Icon: "info", Role: SystemRole, title: label{"系统提示", "System notice"}},
	Team:     {Icon: "team", Role: SystemRole, title: same("{team_name}")},
	Thinking: {Icon: "thinking", Role: Persona, Timeout: 300 * time.Second, title: label{"思考", "Thinking"}},
	Todo:     {Icon: "task", Role: SystemRole, title: same("{subject}")},
	Tool:     {Icon: "tool", Role: Worker, Timeout: 120 * time.Second, title: same("{name}")},
	Turn:     {Icon: "chat", Role: Persona, Timeout: 600 * time.Second, title: label{"第 {turn_no} 轮", "Turn {turn_no}"}},
}

// Hint is how a card is shown where its producer says nothing: the title is the kind's, filled from the payload of the Add.
func (m Meta) Hint(lang Language, payload json.RawMessage) Hint {
	return Hint{Title: fill(m.title.in(lang), payload), Icon: m.Icon}
}

// Over returns the hint with what it leaves open taken from another one.
func (h Hint) Over(other Hint) Hint {
	return Hint{
		Title: cmp.Or(h.Title, other.Title), Summary: cmp.Or(h.Summary, other.Summary), Icon: cmp.Or(h.Icon, other.Icon),
		InitialState: cmp.Or(h.InitialState, other.InitialState), Persona: cmp.Or(h.Persona, other.Persona),
		RenderHint: cmp.Or(h.RenderHint, other.RenderHint),
	}
}

var token = regexp.MustCompile(`\{[a-z_]+\}`)

// fill puts the payload's values in the place of tokens, by their JSON names. A token without a value stays as it is (facts 0.3).
func fill(template string, payload json.RawMessage) string {
	if !token.MatchString(template) {
		return template
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(payload, &fields) != nil {
		return template
	}
	return token.ReplaceAllStringFunc(template, func(t string) string {
		if text := plain(fields[t[1:len(t)-1]]); text != "" {
			return text
		}
		return t
	})
}

// plain is a scalar as people read it; "" for anything else.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	if len(value) == 0 || value[0] == '{' || value[0] == '[' {
		return ""
	}
	return string(value)
}
