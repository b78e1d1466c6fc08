package rig

import (
	"path/filepath"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/truth"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// Truth is what test agents wrote down before they said it.
type Truth struct {
	Path string
	rig  *Rig
}

// NewTruth returns an empty book; give its Path to the test agent.
func (r *Rig) NewTruth() *Truth { return &Truth{Path: filepath.Join(r.Dir, "truth"), rig: r} }

// account is what the agent said that was asked with prompt; false if no agent was.
func (t *Truth) account(prompt string) (truth.Account, bool) {
	t.rig.T.Helper()
	accounts, err := truth.Read(t.Path)
	if err != nil {
		t.rig.T.Fatalf("%v", err)
	}
	for _, a := range accounts {
		if a.Prompt == prompt {
			return a, true
		}
	}
	return truth.Account{}, false
}

// MustEqual fails the test unless the log holds exactly what the agent said.
func (t *Truth) MustEqual(prompt string, log []client.RunEvent) {
	t.rig.T.Helper()
	account, began := t.account(prompt)
	if !began {
		t.rig.T.Fatalf("no agent began with %q", prompt)
	}
	if err := account.Equal(Entries(log), nil); err != nil {
		t.rig.T.Errorf("the log is not what the agent said: %v", err)
	}
}

// MustBePrefix fails the test unless the log holds a beginning of what the agent said and nothing else: its edge was killed, perhaps before
// the agent began.
func (t *Truth) MustBePrefix(prompt string, log []client.RunEvent) {
	t.rig.T.Helper()
	account, _ := t.account(prompt)
	if err := account.HasPrefix(Entries(log), nil); err != nil {
		t.rig.T.Errorf("the log is not a beginning of what the agent said: %v", err)
	}
}

// Entries is a run's log as package truth reads it.
func Entries(log []client.RunEvent) []truth.Entry {
	entries := make([]truth.Entry, len(log))
	for i, e := range log {
		entries[i] = truth.Entry{Seq: e.EventSeq, Type: event.Type(e.EventType), Payload: e.Payload}
	}
	return entries
}
