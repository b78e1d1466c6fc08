package cards

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the hub's own driver

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
)

// noRoom is what the store says to whoever asks it to keep a question.
const noRoom = "there is no room for questions"

// forgetful has the hub's store refuse every question, and nothing else, until it is mended.
func (s *stage) forgetful() (mend func()) {
	s.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.HubHome(), "hub.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := db.Close(); err != nil {
			s.t.Error(err)
		}
	})
	must := func(statement string) {
		s.t.Helper()
		if _, err := db.ExecContext(s.t.Context(), statement); err != nil {
			s.t.Fatal(err)
		}
	}
	must(`CREATE TRIGGER forgetful BEFORE INSERT ON prompts BEGIN SELECT RAISE(ABORT, '` + noRoom + `'); END`)
	return func() {
		s.t.Helper()
		must(`DROP TRIGGER forgetful`)
	}
}

// A question is stored before it is told (S0 §2.4.2). One that cannot be is told to nobody, the hub says why, and neither it nor its run is lost: once
// the store takes it, it is asked, and the turn is that of one who has never heard of it.
func TestAQuestionThatIsNotStoredIsNotTold(t *testing.T) {
	t.Parallel()
	s := newStage(t, "worker")
	mend := s.forgetful()
	sc := scenarioOf("question")
	l := s.enter("worker", sc)
	s.Hub().WaitFor(noRoom)
	told := l.ping()
	for _, e := range append(told, s.stranger(l)...) {
		if e.Type == card.PromptUser {
			t.Errorf("a question that is not stored is told:\n%s", l.script.text())
		}
	}
	if list := s.questions(); len(list) != 0 {
		t.Errorf("questions are stored: %+v", list)
	}
	mend()
	l.play(sc.steps)
	l.end()
	if got, want := numbered(l.script.text()), numbered(golden(t, sc.name)); got != want && !*update {
		t.Errorf("once it is stored it is\n%s\nwant\n%s", got, want)
	}
}

// stranger is what is told to somebody who comes now.
func (s *stage) stranger(l *line) []card.Event {
	s.t.Helper()
	other := s.dial(&script{t: s.t}, client.NewCardForest())
	other.say(card.SessionResume{TraceID: string(l.trace)}, "")
	other.opened()
	return other.ping()
}

// questions are those that wait for the person.
func (s *stage) questions() []client.Prompt {
	s.t.Helper()
	list, err := client.Decode[client.PromptList](s.Owner().API().ListPrompts(s.t.Context(), &client.ListPromptsParams{}))
	if err != nil {
		s.t.Fatal(err)
	}
	return list.Items
}
