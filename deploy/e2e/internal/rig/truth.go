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

// Account is what the agent said that was asked with prompt.
func (t *Truth) Account(prompt string) truth.Account {
	t.rig.T.Helper()
	accounts, err := truth.Read(t.Path)
	if err != nil {
		t.rig.T.Fatalf("%v", err)
	}
	for _, a := range accounts {
		if a.Prompt == prompt {
			return a
		}
	}
	t.rig.T.Fatalf("no agent began with %q", prompt)
	return truth.Account{}
}

// MustEqual fails the test unless the log holds exactly what the agent said.
func (t *Truth) MustEqual(prompt string, log []client.RunEvent) {
	t.rig.T.Helper()
	if err := t.Account(prompt).Equal(Entries(log), nil); err != nil {
		t.rig.T.Errorf("the log is not what the agent said: %v", err)
	}
}

// MustBePrefix fails the test unless the log holds a beginning of what the agent said and nothing else: its edge was killed.
func (t *Truth) MustBePrefix(prompt string, log []client.RunEvent) {
	t.rig.T.Helper()
	if err := t.Account(prompt).HasPrefix(Entries(log), nil); err != nil {
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
