package admission

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/id"
	"pgregory.net/rapid"
)

// plan is a schedule without places at work: a test picks and finishes by hand.
type plan struct {
	*schedule
	t      testing.TB
	limits map[string]int
	runs   int
}

func newPlan(t testing.TB, places int) *plan {
	t.Helper()
	p := &plan{t: t, limits: map[string]int{}}
	p.schedule = newSchedule(places, func(profile string) int { return p.limits[profile] })
	return p
}

// turnOf is the next turn of the conversation with the agent.
func (p *plan) turnOf(session, agent string) *turn {
	p.runs++
	return &turn{
		job:      Job{Run: id.Run(fmt.Sprintf("run_%04d", p.runs)), Profile: agent},
		dialogue: journal.Dialogue{Session: id.Session(session), Agent: id.Agent(agent), Profile: agent},
	}
}

func (p *plan) say(session, agent string) *turn {
	t := p.turnOf(session, agent)
	p.add(t)
	return t
}

// start is what a free place does: nil if nothing may start.
func (p *plan) start() *turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, t := p.pick(context.Background())
	return t
}

func (p *plan) expect(want ...*turn) {
	p.t.Helper()
	for i, w := range want {
		got := p.start()
		switch {
		case got == nil && w != nil:
			p.t.Fatalf("start %d: nothing, want %s of %v", i, w.job.Run, w.dialogue)
		case got != w:
			p.t.Fatalf("start %d: %s of %v", i, got.job.Run, got.dialogue)
		}
	}
}

func TestTurnsStartInTheOrderOfTheirAdmission(t *testing.T) {
	p := newPlan(t, 2)
	a, b, c := p.say("1", "x"), p.say("2", "x"), p.say("3", "x")
	p.expect(a, b, nil)
	p.finish(b)
	p.expect(c, nil)
}

func TestOneTurnPerDialogueAtATime(t *testing.T) {
	p := newPlan(t, 4)
	a, b := p.say("1", "x"), p.say("1", "x")
	other := p.say("1", "y")
	p.expect(a, other, nil)
	p.finish(a)
	p.expect(b)
}

func TestFullAgentHoldsUpNobodyElse(t *testing.T) {
	p := newPlan(t, 3)
	p.limits["x"] = 1
	a, b := p.say("1", "x"), p.say("2", "x")
	other := p.say("3", "y")
	p.expect(a, other, nil)
	p.limits["x"] = 2 // the profile was changed
	p.expect(b)
}

func TestLimitThatIsLoweredStopsNothingAndStartsNothing(t *testing.T) {
	p := newPlan(t, 4)
	a, b, c := p.say("1", "x"), p.say("2", "x"), p.say("3", "x")
	p.expect(a, b)
	p.limits["x"] = 1
	p.expect(nil)
	p.finish(a)
	p.expect(nil)
	p.finish(b)
	p.expect(c)
}

func TestChattyDialogueStarvesNobody(t *testing.T) {
	p := newPlan(t, 1)
	var chatty []*turn
	for range 100 {
		chatty = append(chatty, p.say("chatty", "x"))
	}
	p.expect(chatty[0])
	quiet := []*turn{p.say("quiet", "x"), p.say("quiet", "x"), p.say("late", "x")}
	for i, want := range []*turn{chatty[1], quiet[0], quiet[2], chatty[2], quiet[1], chatty[3], chatty[4]} {
		for r := range p.running {
			p.finish(p.running[r])
		}
		if got := p.start(); got != want {
			t.Fatalf("start %d is %s of %s", i, got.job.Run, got.dialogue.Session)
		}
	}
}

func TestReasonIsTheOneThatHolds(t *testing.T) {
	p := newPlan(t, 2)
	p.limits["x"] = 1
	wants := func(session, agent, want string) {
		t.Helper()
		if got := p.wouldWait(p.turnOf(session, agent).dialogue); got != want {
			t.Errorf("%s with %s: %q, want %q", session, agent, got, want)
		}
	}
	wants("1", "x", reasonNone)
	a := p.say("1", "x")
	wants("1", "x", reasonTurn) // though nothing has started yet
	wants("2", "x", reasonLimit(1))
	p.expect(a)
	wants("1", "x", reasonTurn)
	wants("2", "x", reasonLimit(1))
	p.say("2", "x")
	p.say("3", "x")
	wants("1", "y", reasonNone) // what waits for x takes no place from y
	p.expect(p.say("1", "y"))
	wants("2", "y", reasonPlaces)
	p.finish(a)
	wants("2", "y", reasonPlaces) // the place is for what waited for x
}

func TestNoDialogueTakesAllTheRoom(t *testing.T) {
	p := newPlan(t, 1)
	chatty := p.turnOf("chatty", "x").dialogue
	for range maxPendingDialogue {
		if reason := p.refuses(chatty); reason != reasonNone {
			t.Fatal(reason)
		}
		p.say("chatty", "x")
	}
	if p.refuses(chatty) == reasonNone || p.refuses(p.turnOf("quiet", "x").dialogue) != reasonNone {
		t.Error("one conversation takes all the room, or none at all")
	}
	for i := range maxPending - maxPendingDialogue {
		p.say(fmt.Sprint(i), "x")
	}
	if p.refuses(p.turnOf("quiet", "x").dialogue) == reasonNone {
		t.Error("the room has no end")
	}
}

// The schedule never works on more than it may, keeps the order of every dialogue, leaves no place idle while something could start, and
// gives every dialogue its turn before another one has two.
func TestScheduleKeepsItsRules(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := &model{plan: newPlan(t, rapid.IntRange(1, 4).Draw(r, "places")), waiting: map[journal.Dialogue][]*turn{}, passed: map[journal.Dialogue]map[journal.Dialogue]int{}}
		r.Repeat(map[string]func(*rapid.T){
			"say": func(r *rapid.T) {
				t := m.say(rapid.SampledFrom([]string{"1", "2", "3"}).Draw(r, "session"), rapid.SampledFrom([]string{"x", "y"}).Draw(r, "agent"))
				m.waiting[t.dialogue] = append(m.waiting[t.dialogue], t)
			},
			"start":  m.begin,
			"finish": m.end,
			"cancel": m.drop,
			"limit": func(r *rapid.T) {
				m.limits[rapid.SampledFrom([]string{"x", "y"}).Draw(r, "agent")] = rapid.IntRange(0, 3).Draw(r, "limit")
			},
			"": m.check,
		})
	})
}

// model is what must be true of a schedule, kept in the plainest way.
type model struct {
	*plan
	waiting map[journal.Dialogue][]*turn
	active  []*turn
	// passed counts, for a dialogue that could have started, how often each other one was preferred since.
	passed map[journal.Dialogue]map[journal.Dialogue]int
}

func (m *model) could(d journal.Dialogue) bool {
	busy := 0
	for _, t := range m.active {
		if t.dialogue == d {
			return false
		}
		if t.dialogue.Profile == d.Profile {
			busy++
		}
	}
	limit := m.limits[d.Profile]
	return len(m.waiting[d]) > 0 && len(m.active) < m.places && (limit == 0 || busy < limit)
}

func (m *model) begin(r *rapid.T) {
	var able []journal.Dialogue
	for d := range inOrder(m.waiting) {
		if m.could(d) {
			able = append(able, d)
		}
	}
	t := m.start()
	if t == nil {
		if len(able) > 0 {
			r.Fatalf("a place is idle, though %v could start", able)
		}
		return
	}
	d := t.dialogue
	if !slices.Contains(able, d) || m.waiting[d][0] != t {
		r.Fatalf("%s of %v may not start now", t.job.Run, d)
	}
	for _, other := range able {
		if m.passed[other] == nil {
			m.passed[other] = map[journal.Dialogue]int{}
		}
		if m.passed[other][d]++; other != d && m.passed[other][d] > 1 {
			r.Fatalf("%v has started twice while %v could", d, other)
		}
	}
	delete(m.passed, d)
	m.waiting[d] = m.waiting[d][1:]
	m.active = append(m.active, t)
}

// inOrder yields the dialogues with turns by the number of their first one, so that a failure can be played again.
func inOrder(waiting map[journal.Dialogue][]*turn) iter.Seq2[journal.Dialogue, []*turn] {
	lines := slices.DeleteFunc(slices.Collect(maps.Values(waiting)), func(turns []*turn) bool { return len(turns) == 0 })
	slices.SortFunc(lines, func(a, b []*turn) int { return cmp.Compare(a[0].job.Run, b[0].job.Run) })
	return func(yield func(journal.Dialogue, []*turn) bool) {
		for _, turns := range lines {
			if !yield(turns[0].dialogue, turns) {
				return
			}
		}
	}
}

func (m *model) end(r *rapid.T) {
	if len(m.active) == 0 {
		r.Skip("nothing runs")
	}
	i := rapid.IntRange(0, len(m.active)-1).Draw(r, "which")
	m.finish(m.active[i])
	m.active = slices.Delete(m.active, i, i+1)
}

func (m *model) drop(r *rapid.T) {
	for d, turns := range inOrder(m.waiting) {
		i := rapid.IntRange(0, len(turns)-1).Draw(r, "which")
		if got := m.cancel(turns[i].job.Run); got != turns[i] {
			r.Fatalf("the cancel took out %v", got)
		}
		if m.waiting[d] = slices.Delete(turns, i, i+1); len(m.waiting[d]) == 0 {
			delete(m.passed, d) // it stands in no line any more
		}
		return
	}
	r.Skip("nothing waits")
}

func (m *model) check(r *rapid.T) {
	waiting := 0
	for _, turns := range m.waiting {
		waiting += len(turns)
	}
	if len(m.running) != len(m.active) || len(m.running) > m.places || m.pending != waiting || len(m.live()) != waiting+len(m.active) {
		r.Fatalf("%d run, %d wait, want %d and %d", len(m.running), m.pending, len(m.active), waiting)
	}
}
