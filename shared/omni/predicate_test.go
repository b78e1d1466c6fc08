package omni_test

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

func TestPredicatesFollowTheGroups(t *testing.T) {
	groups := map[omni.PayloadType]omni.Group{}
	for _, s := range omni.Shapes() {
		groups[s.Type] = s.Group
	}
	count := map[omni.Group]int{}
	for _, g := range groups {
		count[g]++
	}
	want := map[omni.Group]int{omni.Meta: 1, omni.Complete: 7, omni.Partial: 4, omni.Event: 8, omni.Later: 3}
	for g, n := range want {
		if count[g] != n {
			t.Errorf("%d types of %s, want %d", count[g], g, n)
		}
	}
	for name, p := range payloads() {
		m := made(t, p)
		g := groups[m.PayloadType()]
		if m.IsSessionMeta() != (g == omni.Meta) || m.IsCompleteModelMessage() != (g == omni.Complete) || m.IsPartial() != (g == omni.Partial) ||
			m.IsEventMessage() != (g == omni.Event || g == omni.Later) || m.IsModelMessage() != (g == omni.Complete || g == omni.Partial) {
			t.Errorf("%s is taken for something else than %s", name, g)
		}
		if m.InTrace() != (g != omni.Partial) || m.IsOfSubagent() || !m.Known() {
			t.Errorf("%s in a trace: %v", name, m.InTrace())
		}
		passed, err := m.WithOrigin("s")
		if err != nil || passed.InTrace() || !passed.IsOfSubagent() {
			t.Errorf("%s of a sub-agent is in the trace", name)
		}
	}
}

func TestPredicatesOfWhatIsNotKnown(t *testing.T) {
	for line, want := range map[string][4]bool{ // complete, partial, event, in a trace
		`{"type":"model_msg","payload":{"type":"audio"}}`:            {true, false, false, true},
		`{"type":"model_msg","payload":{"type":"partial_audio"}}`:    {false, true, false, false},
		`{"type":"event_msg","payload":{"type":"partial_progress"}}`: {false, false, true, true},
		`{"type":"note","payload":{"type":"text"}}`:                  {false, false, false, true},
	} {
		m := read(t, line)
		if got := [4]bool{m.IsCompleteModelMessage(), m.IsPartial(), m.IsEventMessage(), m.InTrace()}; got != want || m.Known() {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestStopReasons(t *testing.T) {
	retried := map[omni.StopReason]bool{omni.Failed: true, omni.Timeout: true, omni.Malformed: true}
	if len(omni.StopReasons()) != 6 {
		t.Errorf("%v", omni.StopReasons())
	}
	for _, r := range omni.StopReasons() {
		if r.Retried() != retried[r] {
			t.Errorf("%s is tried again: %v", r, r.Retried())
		}
	}
}

func TestTokenCountsAdd(t *testing.T) {
	counts := rapid.Custom(func(t *rapid.T) omni.TokenCounts {
		n := rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, int64(omni.MaxCount)))
		draw := func(what string) omni.Count { return omni.Count(n.Draw(t, what)) }
		return omni.TokenCounts{CacheRead: draw("read"), CacheWrite: draw("write"), Output: draw("output"), Total: draw("total")}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := counts.Draw(t, "a"), counts.Draw(t, "b"), counts.Draw(t, "c")
		if a.Plus(b) != b.Plus(a) || a.Plus(b).Plus(c) != a.Plus(b.Plus(c)) || a.Plus(omni.TokenCounts{}) != a {
			t.Fatal("addition is none")
		}
		want := min(int64(a.Total)+int64(b.Total), int64(omni.MaxCount))
		if got := a.Plus(b).Total; int64(got) != want {
			t.Fatalf("%d + %d = %d", a.Total, b.Total, got)
		}
		if a.Plus(b).IsZero() != (a.IsZero() && b.IsZero()) {
			t.Fatal("zero is no zero")
		}
		made(t, omni.TokenUsage(a, b))
	})
}

func TestCountsAreWholeNumbers(t *testing.T) {
	for text, want := range map[string]omni.Count{`0`: 0, `12`: 12, `12.0`: 12, `1.2e1`: 12, `-3`: -3, `9007199254740991`: omni.MaxCount} {
		var c omni.Count
		if err := json.Unmarshal([]byte(text), &c); err != nil || c != want {
			t.Errorf("%s is %d, %v", text, c, err)
		}
	}
	for _, text := range []string{`null`, `"1"`, `1.5`, `9007199254740992`, `1e400`, `-1e300`, `true`} {
		c := omni.Count(math.MaxInt8)
		if err := c.UnmarshalJSON([]byte(text)); err == nil || c != math.MaxInt8 {
			t.Errorf("%s is %d", text, c)
		}
	}
}
