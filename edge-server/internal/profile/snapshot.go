package profile

import (
	"slices"
	"strings"
)

// Set is what one edge can run, by name.
type Set map[Name]Profile

// Sorted returns the profiles by name.
func (s Set) Sorted() []Profile {
	all := make([]Profile, 0, len(s))
	for _, p := range s {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Profile) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return all
}

// Snapshot is what a library holds at one moment. It never changes; nobody may write to it.
type Snapshot struct {
	Profiles Set
	Faulty   []Faulty // by path
	changed  chan struct{}
}

// Changed is closed when a newer snapshot is in force.
func (s *Snapshot) Changed() <-chan struct{} { return s.changed }

// Faulty is a file that cannot be used.
type Faulty struct {
	File
	Kept bool // the version before is still in force
}

// usable is the profile of an entry that is in force, if there is one.
func (e *entry) usable() (Profile, bool) {
	switch {
	case !e.file.Problems.Faulty():
		return e.file.Profile, true
	case e.good != nil:
		return *e.good, true
	}
	return Profile{}, false
}

// newSnapshot joins the built-in profiles with the files, which win. Of two files with one name the first counts.
func newSnapshot(builtin []Profile, entries map[string]*entry) *Snapshot {
	s := &Snapshot{Profiles: Set{}, changed: make(chan struct{})}
	for _, p := range builtin {
		s.Profiles[p.Name] = p
	}
	from := map[Name]string{}
	for _, path := range sorted(entries) {
		e := entries[path]
		if !e.read.there {
			continue // it has not come to rest yet
		}
		file := e.file
		p, usable := e.usable()
		if other := from[p.Name]; usable && other != "" {
			file.Problems, usable = file.taken(other), false
		}
		if usable {
			s.Profiles[p.Name], from[p.Name] = p, path
		}
		if file.Problems.Faulty() {
			s.Faulty = append(s.Faulty, Faulty{File: file, Kept: usable})
		}
	}
	return s
}
