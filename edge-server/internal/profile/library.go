package profile

import (
	"context"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"
	"time"
)

// Library holds the profiles of an edge and follows their folder: a new file is an agent a moment later, a file that is removed is none any
// more. A file that cannot be used disturbs no other one, and its last good version stays in force. Safe for concurrent use, but for Run, which
// one goroutine calls.
type Library struct {
	folder  string
	edge    Edge
	builtin []Profile
	log     *slog.Logger
	current atomic.Pointer[Snapshot]

	entries map[string]*entry // by path; owned by Open, then by Run
	trouble string            // why the folder could not be looked at the last time; owned by Run
}

// lookEvery is how often the folder is looked at. A change counts when two looks in a row find the same: whoever writes a file in steps, or
// replaces it, is not taken at half a word.
const lookEvery = 500 * time.Millisecond

// Open reads the built-in profiles and those of folder, which win. A folder that does not exist is empty.
func Open(folder string, edge Edge, log *slog.Logger) (*Library, error) {
	l := &Library{folder: folder, edge: edge, builtin: builtins(edge.Lookup), log: log, entries: map[string]*entry{}}
	if sentence, missing := chatMissing(edge.Lookup); missing {
		log.Info("the built-in chat agent is not offered", "reason", sentence)
	}
	found, err := look(folder)
	if err != nil {
		return nil, err
	}
	for path, stamp := range found {
		l.entries[path] = &entry{seen: stamp}
		l.read(path)
	}
	l.publish()
	return l, nil
}

// Of is a library of these profiles, which never changes.
func Of(profiles ...Profile) *Library {
	l := &Library{log: slog.New(slog.DiscardHandler)}
	l.current.Store(newSnapshot(profiles, nil))
	return l
}

// Current is what is in force now.
func (l *Library) Current() *Snapshot { return l.current.Load() }

// Find returns the profile of that name as it is now.
func (l *Library) Find(name Name) (Profile, bool) {
	p, ok := l.Current().Profiles[name]
	return p, ok
}

// Run follows the folder until ctx ends.
func (l *Library) Run(ctx context.Context) error {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
			l.follow()
		}
	}
}

// publish puts what is known into force and says what is new about it.
func (l *Library) publish() {
	next := newSnapshot(l.builtin, l.entries)
	before := l.current.Swap(next)
	if before == nil {
		before = &Snapshot{}
	} else {
		close(before.changed)
	}
	l.reportFaults(before, next)
	for _, name := range slices.Sorted(maps.Keys(next.Profiles)) {
		if !reflect.DeepEqual(before.Profiles[name], next.Profiles[name]) {
			l.log.Info("agent is offered", "agent", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before.Profiles)) {
		if _, still := next.Profiles[name]; !still {
			l.log.Info("agent is not offered any more", "agent", name)
		}
	}
}

// reportFaults logs each faulty file once, with everything that is wrong with it, until something else is.
func (l *Library) reportFaults(before, next *Snapshot) {
	for _, f := range next.Faulty {
		known := slices.ContainsFunc(before.Faulty, func(b Faulty) bool { return b.Path == f.Path && slices.Equal(b.Problems, f.Problems) })
		if !known {
			l.log.Error("profile is not usable", "file", f.Path, "problems", f.Problems.String(), "earlier_version_kept", f.Kept)
		}
	}
}
