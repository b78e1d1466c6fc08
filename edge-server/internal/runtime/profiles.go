package runtime

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Profiles returns what this edge can run now, by name, and a channel that is closed when that has changed. See uplink.Profiles.
func (e *Executor) Profiles() (now []wire.Profile, changed <-chan struct{}) {
	current := e.opts.Profiles.Current()
	now = []wire.Profile{}
	for _, p := range current.Profiles.Sorted() {
		if len(now) < wire.MaxProfiles {
			now = append(now, wire.Profile{Name: string(p.Name), Runtime: string(p.Runtime), Description: p.Description, Controls: p.Controls})
		}
	}
	return now, current.Changed()
}

// Limit and Changed tell admission what may run. See admission.Profiles.
func (e *Executor) Limit(name string) (most int, offered bool) {
	p, ok := e.opts.Profiles.Find(profile.Name(name))
	return p.MaxRuns, ok
}

// Changed is closed when an answer of Limit may have become another.
func (e *Executor) Changed() <-chan struct{} { return e.opts.Profiles.Current().Changed() }
