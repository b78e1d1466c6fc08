package account

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

type made struct{ Secret Token }

// world is what attempts act on: a store of answers, and how often the effect happened.
type world struct {
	store    *memoryAttempts
	attempts *Attempts
	effects  int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	store := &memoryAttempts{answers: map[Attempt]struct {
		request [32]byte
		answer  []byte
	}{}}
	return &world{store: store, attempts: NewAttempts(store, newKeyring(t), time.Now)}
}

func (w *world) make(t *testing.T, a Attempt) (made, error) {
	t.Helper()
	return Once(t.Context(), w.attempts, a, func(claim func(made) (Claim, error)) (made, error) {
		result := made{NewToken(InvitationToken)}
		c, err := claim(result)
		if err != nil {
			return made{}, err
		}
		w.effects++
		w.store.record(c)
		return result, nil
	})
}

func TestARepeatedAttemptGetsTheFirstAnswer(t *testing.T) {
	w := newWorld(t)
	a := Attempt{User: id.NewUser(), Route: "POST /x", Key: "key-0001", Request: [32]byte{1}}
	first, err := w.make(t, a)
	if err != nil {
		t.Fatal(err)
	}
	second, err := w.make(t, a)
	if err != nil || second != first || w.effects != 1 {
		t.Fatalf("second %v (first %v), %v, %d effects", second, first, err, w.effects)
	}
	other := a
	other.User = id.NewUser()
	if got, err := w.make(t, other); err != nil || got == first {
		t.Fatalf("another user with the same key: %v, %v", got, err)
	}
	a.Request[0]++
	if _, err := w.make(t, a); fault.CodeOf(err) != fault.IdempotencyConflict {
		t.Fatalf("same key, another request: %v", err)
	}
}

func TestALostRaceGetsTheWinnersAnswer(t *testing.T) {
	w := newWorld(t)
	a := Attempt{User: id.NewUser(), Route: "POST /x", Key: "key-0001"}
	winner := made{NewToken(InvitationToken)}
	got, err := Once(t.Context(), w.attempts, a, func(claim func(made) (Claim, error)) (made, error) {
		c, err := claim(winner) // what the other hub stored in the meantime
		if err != nil {
			return made{}, err
		}
		return made{}, &Repeated{Answer: c.Answer}
	})
	if err != nil || got != winner {
		t.Fatalf("got %v, %v", got, err)
	}
}

func TestAFailureIsNoAnswer(t *testing.T) {
	w := newWorld(t)
	a := Attempt{User: id.NewUser(), Route: "POST /x", Key: "key-0001"}
	broken := errors.New("broken")
	if _, err := Once(t.Context(), w.attempts, a, func(func(made) (Claim, error)) (made, error) { return made{}, broken }); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if _, err := w.make(t, a); err != nil || w.effects != 1 {
		t.Fatalf("after a failure: %v, %d effects", err, w.effects)
	}
}

func TestStoredAnswersHoldNoReadableSecret(t *testing.T) {
	w := newWorld(t)
	a := Attempt{User: id.NewUser(), Route: "POST /x", Key: "key-0001"}
	got, err := w.make(t, a)
	if err != nil {
		t.Fatal(err)
	}
	stored := w.store.answers[w.store.key(a)].answer
	if bytes.Contains(stored, []byte(got.Secret[4:20])) {
		t.Fatal("the answer is stored in the clear")
	}
	other := a
	other.Key = "key-0002"
	if _, err := unsealAnswer[made](w.attempts, other, stored); err == nil {
		t.Fatal("an answer can be moved to another attempt")
	}
}
