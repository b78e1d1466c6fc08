package devices

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/apicontract"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Agents of the one edge. Each begins at once.
const (
	worker  = "worker"  // says a few things and uses a tool
	asker   = "asker"   // asks for permission
	failing = "failing" // ends before it says anything
	forever = "forever" // is silent until it is stopped
)

// agents are the profiles of a rig's edge.
func agents(t *testing.T, r *rig.Rig) map[string]string {
	t.Helper()
	asks := rig.Profile("bridge", r.Program("bridgeagent"), "--book", filepath.Join(t.TempDir(), "book"), "--input", `{"command":"ls"}`)
	return map[string]string{
		worker:  r.TestAgent("--events", "6", "--tools"),
		asker:   strings.Replace(asks, "timeout_secs: 600\n", "timeout_secs: 600\nkill_grace_secs: 1\npermission: true\n", 1),
		failing: r.TestAgent("--act", "exit"),
		forever: r.TestAgent("--act", "forever"),
	}
}

func newKey() string { return uuid.NewString() }

// stage is where the frames of S3 are made: ada owns the edge, bob shares a conversation with her, and carol knows neither.
type stage struct {
	*rig.Rig
	t               *testing.T
	node            *node
	contract        *apicontract.Validator
	ada, bob, carol *someone
	dave            *rig.Device // a friend of ada, who comes and goes
	room            string      // of ada, bob and all agents
	ever            map[client.HubWebSocketFrameType]bool
}

func newStage(t *testing.T, env []string) *stage {
	t.Helper()
	s := &stage{Rig: rig.New(t, rig.Options{Env: append(env, "HUB_REQUESTS_PER_MINUTE=1000000", "HUB_SOCKETS_PER_MINUTE=100000", "HUB_PRESENCE_GRACE=1s")}), t: t, node: startNode(t),
		ever: map[client.HubWebSocketFrameType]bool{}}
	var err error
	if s.contract, err = apicontract.New(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.AddEdge("laptop", agents(t, s.Rig))
	s.ada = newSomeone(t, s.Owner(), rig.Username)
	bob, _ := s.Invite("bob")
	carol, _ := s.Invite("carol")
	s.dave, _ = s.Invite("dave")
	rig.Befriend(s.Owner(), rig.Username, s.dave, "dave")
	s.bob, s.carol = newSomeone(t, bob, "bob"), newSomeone(t, carol, "carol")
	s.room = s.group("room", s.bob)
	for _, a := range []string{worker, asker, failing, forever} {
		s.add(s.room, s.Owner().AgentID(a))
	}
	return s
}

func (s *stage) people() []*someone { return []*someone{s.ada, s.bob, s.carol} }

// group is a new conversation of ada with others.
func (s *stage) group(name string, others ...*someone) string {
	s.t.Helper()
	in := client.GroupSessionInput{Name: name}
	for _, p := range others {
		in.MemberIds = append(in.MemberIds, p.id)
	}
	made := did[client.Session](s, "open a group")(s.ada.live.API().CreateGroupSession(s.t.Context(), &client.CreateGroupSessionParams{IdempotencyKey: newKey()}, in))
	return made.ID
}

func (s *stage) add(session, member string) {
	s.t.Helper()
	once, in := &client.AddMemberParams{IdempotencyKey: newKey()}, client.MemberInput{MemberID: member}
	did[client.SessionMember](s, "add a member")(s.ada.live.API().AddMember(s.t.Context(), session, once, in))
}

// say is what ada says in the room.
func (s *stage) say(text string) client.MessageReceipt {
	s.t.Helper()
	return s.ada.live.Post(s.room, client.MessageInput{ClientMsgID: newKey(), Content: rig.Text(text)})
}

// run has an agent of the room begin to work.
func (s *stage) run(agent string) id.Run {
	s.t.Helper()
	return s.ada.live.Run(s.room, "@"+agent+" go")
}

// done reads an answer that must be none of a refusal.
func (s *stage) done(what string) func(*http.Response, error) {
	return func(resp *http.Response, err error) {
		s.t.Helper()
		did[client.Nothing](s, what)(resp, err)
	}
}

func did[T any](s *stage, what string) func(*http.Response, error) T {
	return func(resp *http.Response, err error) T {
		s.t.Helper()
		answer, err := client.Decode[T](resp, err)
		if err != nil {
			s.t.Fatalf("%s: %v", what, err)
		}
		return answer
	}
}

// play does one thing and holds what the devices of everybody are shown of it to the row.
func (s *stage) play(r row) {
	s.t.Helper()
	for _, p := range s.people() {
		p.leave(s.t)
	}
	r.act(s)
	for _, p := range s.people() {
		synced := p.comeBack(s.t)
		s.hold(r, p, synced)
	}
}

func (s *stage) hold(r row, p *someone, synced []client.HubWebSocketFrame) {
	s.t.Helper()
	live, away := p.told(p.live.frames()), p.told(p.away.frames())
	s.valid(slices.Concat(live, away, synced))
	shown, replayed, read := keysOf(live, r.frame), keysOf(away, r.frame), keysOf(synced, r.frame)
	if told := slices.Contains(r.told(s), p); told != (len(shown) > 0) {
		s.t.Errorf("%s: %s was shown %q, want some: %t", r, p.name, shown, told)
	}
	s.repeats(r, p, live)
	if r.ephemeral {
		shown = nil
	}
	if !slices.Equal(replayed, shown) || !slices.Equal(read, shown) {
		s.t.Errorf("%s: %s was shown %q, after a cut %q, by /client/sync %q", r, p.name, shown, replayed, read)
	}
	if len(shown) > 0 {
		s.same(r, p, live, away, synced)
	}
	for _, f := range live {
		if f.Type == r.frame && r.payload != nil {
			r.payload(s, p, f)
		}
	}
}

// same compares what the frames come to for whoever was cut off.
func (s *stage) same(r row, p *someone, live, away, synced []client.HubWebSocketFrame) {
	s.t.Helper()
	want := reduce(p.id, live).kept()
	for how, frames := range map[string][]client.HubWebSocketFrame{"after a cut": away, "by /client/sync": synced} {
		s.compare(r, p, how, want, reduce(p.id, frames).kept(), s.node.reduce(p.id, frames).kept())
	}
}

// repeats compares what both SDKs make of the frames as they came, and as they may come: again, and in another order.
func (s *stage) repeats(r row, p *someone, live []client.HubWebSocketFrame) {
	s.t.Helper()
	want := reduce(p.id, live)
	for how, frames := range map[string][]client.HubWebSocketFrame{
		"as they came": live, "each twice": eachTwice(live), "all again": slices.Concat(live, live),
		"in another order": disordered(live, 1), "in a third order": disordered(live, 2),
	} {
		s.compare(r, p, how, want, reduce(p.id, frames), s.node.reduce(p.id, frames))
	}
}

func (s *stage) compare(r row, p *someone, how string, want, byGo, byTypeScript state) {
	s.t.Helper()
	for sdk, got := range map[string]state{"Go": byGo, "TypeScript": byTypeScript} {
		if d := differences(got, want); d != "" {
			s.t.Errorf("%s: %s's state by the %s SDK, %s:\n%s", r, p.name, sdk, how, d)
		}
	}
}

// valid holds frames to the contract, and notes that there are such.
func (s *stage) valid(frames []client.HubWebSocketFrame) {
	s.t.Helper()
	for _, f := range frames {
		s.ever[f.Type] = true
		raw, err := encode(f)
		if err == nil {
			err = s.contract.Frame(raw)
		}
		if err != nil {
			s.t.Error(err)
		}
	}
}
