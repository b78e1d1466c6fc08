package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// desk is a folder in which somebody works, and what a library must make of it. A text is the command of a good file, or begins with "!".
type desk struct {
	t       *rapid.T
	library *Library
	clock   time.Time
	now     map[Name]string // content of the files that are there
	looked  map[Name]string // the same at the last look
	force   map[Name]string // commands in force
}

// Whatever somebody does in the folder: in force is what each file said the last time that it was good and at rest, and nothing else.
func TestInForceIsTheLastGoodTextThatCameToRest(t *testing.T) {
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		d := newDesk(r, filepath.Join(root, fmt.Sprint(n)))
		name := rapid.SampledFrom([]Name{"a", "b"})
		r.Repeat(map[string]func(*rapid.T){
			"write":  func(r *rapid.T) { d.write(name.Draw(r, "name"), fmt.Sprint("c", rapid.IntRange(0, 3).Draw(r, "text"))) },
			"spoil":  func(r *rapid.T) { d.write(name.Draw(r, "name"), "!") },
			"remove": func(r *rapid.T) { d.remove(name.Draw(r, "name")) },
			"look":   func(*rapid.T) { d.look() },
			"":       func(*rapid.T) { d.check() },
		})
	})
}

func newDesk(r *rapid.T, folder string) *desk {
	if err := os.Mkdir(folder, 0o700); err != nil {
		r.Fatal(err)
	}
	l, err := Open(folder, Edge{Lookup: lookupIn(nil)}, slog.New(slog.DiscardHandler))
	if err != nil {
		r.Fatal(err)
	}
	return &desk{t: r, library: l, clock: time.Unix(1e9, 0), now: map[Name]string{}, looked: map[Name]string{}, force: map[Name]string{}}
}

func (d *desk) path(name Name) string { return filepath.Join(d.library.folder, string(name)+".yaml") }

// write gives the file a time of its own: a test is faster than the clock of a file system.
func (d *desk) write(name Name, text string) {
	d.clock = d.clock.Add(time.Second)
	if err := errors.Join(os.WriteFile(d.path(name), []byte("command: "+text+"\n"), 0o600), os.Chtimes(d.path(name), d.clock, d.clock)); err != nil {
		d.t.Fatal(err)
	}
	d.now[name] = fmt.Sprint(text, "@", d.clock.Unix())
}

func (d *desk) remove(name Name) {
	if err := os.Remove(d.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.t.Fatal(err)
	}
	delete(d.now, name)
}

func (d *desk) look() {
	d.library.follow()
	for _, name := range []Name{"a", "b"} {
		text, there := d.now[name]
		before, was := d.looked[name]
		switch {
		case there && was && text == before && text[0] != '!':
			d.force[name] = text[:2]
		case !there && !was:
			delete(d.force, name)
		}
		delete(d.looked, name)
		if there {
			d.looked[name] = text
		}
	}
}

func (d *desk) check() {
	for _, name := range []Name{"a", "b"} {
		p, offered := d.library.Find(name)
		if want, inForce := d.force[name]; offered != inForce || p.Command != want {
			d.t.Fatalf("%s runs %q (%t), want %q (%t)", name, p.Command, offered, want, inForce)
		}
	}
}
