package subject_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

func verbs() []subject.Verb {
	return []subject.Verb{
		subject.Hello, subject.Frame, subject.Receipt, subject.Pong, subject.Alive, subject.Capabilities,
		subject.Welcome, subject.Committed, subject.Rewind, subject.Command, subject.Ping, subject.Refused,
		subject.Show, subject.Shown,
	}
}

func TestSubjectsOfAConnection(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{string(subject.Up("edge_1", "conn_2", subject.Frame)), "edge.edge_1.up.conn_2.frame"},
		{string(subject.Down("edge_1", "conn_2", subject.Welcome)), "edge.edge_1.down.conn_2.welcome"},
		{string(subject.AllUp("edge_1", "conn_2")), "edge.edge_1.up.conn_2.>"},
		{string(subject.AllDown("edge_1", "conn_2")), "edge.edge_1.down.conn_2.>"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

// TestPatternCoversItsConnectionAlone is the deny matrix of the bus credential in small.
func TestPatternCoversItsConnectionAlone(t *testing.T) {
	e, c := id.NewEdge(), id.NewConnection()
	for _, v := range verbs() {
		if !covers(subject.AllUp(e, c), subject.Up(e, c, v)) || !covers(subject.AllDown(e, c), subject.Down(e, c, v)) {
			t.Errorf("%s is not covered", v)
		}
		for _, foreign := range []subject.Subject{
			subject.Up(id.NewEdge(), c, v), subject.Up(e, id.NewConnection(), v), subject.Down(e, c, v), subject.WakeOutbox, subject.Kick,
		} {
			if covers(subject.AllUp(e, c), foreign) {
				t.Errorf("%s is covered by the pattern of another", foreign)
			}
		}
	}
}

// covers is NATS' rule for a pattern that ends in ">".
func covers(p subject.Pattern, s subject.Subject) bool {
	prefix, ok := strings.CutSuffix(string(p), ">")
	return ok && strings.HasPrefix(string(s), prefix) && len(s) > len(prefix)
}

func TestSubjectsAreWellFormed(t *testing.T) {
	all := []subject.Subject{
		subject.WakeOutbox, subject.WakeCommands, subject.Ephemeral, subject.Kick, subject.Presence, subject.People, subject.Contacts, subject.Attention, subject.Revoked, subject.Arrived, subject.Doubted,
	}
	for _, v := range verbs() {
		all = append(all, subject.Up(id.NewEdge(), id.NewConnection(), v), subject.Down(id.NewEdge(), id.NewConnection(), v))
	}
	seen := map[subject.Subject]bool{}
	for _, s := range all {
		if seen[s] || strings.ContainsAny(string(s), " *>\t\r\n") || strings.Contains("."+string(s)+".", "..") {
			t.Errorf("%q", s)
		}
		seen[s] = true
	}
}

func FuzzVerb(f *testing.F) {
	f.Add("frame")
	f.Add("")
	f.Fuzz(func(t *testing.T, verb string) {
		if strings.Contains(verb, ".") {
			if got := subject.VerbOf(verb); strings.Contains(string(got), ".") {
				t.Fatalf("verb of %q is %q", verb, got)
			}
			return
		}
		if got := subject.VerbOf(string(subject.Up("edge_1", "conn_1", subject.Verb(verb)))); got != subject.Verb(verb) {
			t.Fatalf("verb %q became %q", verb, got)
		}
	})
}
