package profile

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"
)

// stamp tells one state of a file from another without reading it; the zero value is a file that is not there.
type stamp struct {
	there    bool
	size     int64
	modified time.Time
}

// entry is what a library knows of one file.
type entry struct {
	seen stamp // at the last look
	read stamp // when it was read
	file File
	good *Profile // what it said the last time it could be used
}

// look returns what is in the folder.
func look(folder string) (map[string]stamp, error) {
	paths, err := Files(folder)
	if err != nil {
		return nil, err
	}
	found := map[string]stamp{}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone meanwhile, or a link into nowhere
		case err != nil:
			found[path] = stamp{there: true}
		default:
			found[path] = stamp{there: true, size: info.Size(), modified: info.ModTime()}
		}
	}
	return found, nil
}

// follow looks at the folder once, and takes what has changed and come to rest.
func (l *Library) follow() {
	found, err := look(l.folder)
	if err != nil {
		l.lookFailed(err)
		return
	}
	l.trouble = ""
	for path := range found {
		if l.entries[path] == nil {
			l.entries[path] = &entry{}
		}
	}
	changed := false
	for _, path := range sorted(l.entries) {
		now, e := found[path], l.entries[path]
		atRest := now == e.seen
		e.seen = now
		if atRest && l.take(path, now) {
			changed = true
		}
	}
	if changed {
		l.publish()
	}
}

// take brings what is known of a file up to now; it says whether that is anything new.
func (l *Library) take(path string, now stamp) bool {
	e := l.entries[path]
	switch {
	case !now.there:
		delete(l.entries, path)
		return e.read.there
	case now != e.read:
		l.read(path)
		return true
	case e.file.unread: // permission may be given without any sign of it in the stamp
		before := e.file.Problems
		l.read(path)
		return !slices.Equal(before, e.file.Problems)
	}
	return false
}

func (l *Library) read(path string) {
	e := l.entries[path]
	e.file, e.read = ReadFile(path, l.edge), e.seen
	if e.file.Problems.Faulty() {
		return
	}
	good := e.file.Profile
	e.good = &good
	if len(e.file.Problems) > 0 {
		l.log.Warn("profile has problems", "file", path, "problems", e.file.Problems.String())
	}
}

// lookFailed leaves everything in force, and says so once.
func (l *Library) lookFailed(err error) {
	if l.trouble != err.Error() {
		l.trouble = err.Error()
		l.log.Error("the folder of profiles cannot be read: what was read stays in force", "error", err)
	}
}

func sorted(entries map[string]*entry) []string { return slices.Sorted(maps.Keys(entries)) }
