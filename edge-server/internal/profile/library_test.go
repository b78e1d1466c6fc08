package profile

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// shelf is a library at work in a bubble, over a real folder.
type shelf struct {
	*Library
	t      *testing.T
	folder string
	log    *bytes.Buffer
}

// inShelf plays with a library whose folder holds these files when it opens.
func inShelf(t *testing.T, files map[string]string, play func(*shelf)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{t: t, folder: filepath.Join(t.TempDir(), "profiles"), log: &bytes.Buffer{}}
		for name, content := range files {
			s.write(name, content)
		}
		l, err := Open(s.folder, Edge{Lookup: lookupIn(map[string]string{"PATH": "/bin"})}, slog.New(slog.NewTextHandler(s.log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		s.Library = l
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.Run(ctx) }()
		play(s)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func (s *shelf) write(name, content string) {
	s.t.Helper()
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.folder, name), []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) remove(name string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.folder, name)); err != nil {
		s.t.Fatal(err)
	}
}

// looks lets the library look at its folder n times.
func (s *shelf) looks(n int) {
	for range n {
		time.Sleep(lookEvery)
		synctest.Wait()
	}
}

func (s *shelf) expect(when string, names ...Name) {
	s.t.Helper()
	got := slices.Sorted(maps.Keys(s.Current().Profiles))
	if want := append([]Name{Scout}, names...); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		s.t.Errorf("%s: %q is offered, want %q", when, got, want)
	}
}

func (s *shelf) command(name Name) string {
	p, _ := s.Find(name)
	return p.Command
}

func TestFolderAddsToTheBuiltInProfilesAndWins(t *testing.T) {
	inShelf(t, map[string]string{
		"mine.yaml": "command: sh", "scout.yml": "executor: scout\ndescription: mine", "broken.yaml": "args: [", "notes.txt": "command: y", ".a.yaml": "no",
	}, func(s *shelf) {
		s.expect("at the start", "mine")
		scout, _ := s.Find(Scout)
		mine, _ := s.Find("mine")
		if scout.Description != "mine" || mine.Dir != s.folder {
			t.Errorf("scout %+v, mine %+v", scout, mine)
		}
		if f := s.Current().Faulty; len(f) != 1 || filepath.Base(f[0].Path) != "broken.yaml" || f[0].Kept {
			t.Errorf("faulty are %+v", f)
		}
	})
}

func TestFilesComeAndGoWithoutARestart(t *testing.T) {
	inShelf(t, nil, func(s *shelf) {
		s.expect("without a folder")
		before := s.Current()
		s.write("mine.yaml", "command: sh\n")
		s.looks(2)
		s.expect("a new file", "mine")
		select {
		case <-before.Changed():
		default:
			t.Error("the change was not announced")
		}
		s.write("mine.yaml", "command: cat\n")
		s.looks(2)
		if got := s.command("mine"); got != "cat" {
			t.Errorf("command is %q", got)
		}
		s.remove("mine.yaml")
		s.looks(2)
		s.expect("the file is gone")
		if len(before.Profiles) != 1 {
			t.Error("an old snapshot has changed")
		}
	})
}

func TestNothingIsAnnouncedWhileNothingChanges(t *testing.T) {
	inShelf(t, map[string]string{"mine.yaml": "command: sh", "bad.yaml": "command: ["}, func(s *shelf) {
		before, logged := s.Current(), s.log.Len()
		s.looks(20)
		if s.Current() != before || s.log.Len() != logged {
			t.Errorf("the log says:\n%s", s.log)
		}
	})
}

func TestBadFileKeepsItsLastGoodVersionAndIsLoggedOnce(t *testing.T) {
	inShelf(t, map[string]string{"mine.yaml": "command: sh", "other.yaml": "command: cat"}, func(s *shelf) {
		s.write("mine.yaml", "comand: sh\ntimeout_secs: soon\n")
		s.looks(10)
		s.expect("a bad file", "mine", "other")
		f := s.Current().Faulty
		if s.command("mine") != "sh" || len(f) != 1 || !f[0].Kept || f[0].Problems.Errors() != 3 {
			t.Fatalf("command %q, faulty %+v", s.command("mine"), f)
		}
		if n := strings.Count(s.log.String(), "profile is not usable"); n != 1 || !strings.Contains(s.log.String(), "did you mean command?") {
			t.Errorf("logged %d times:\n%s", n, s.log)
		}
		s.write("mine.yaml", "comand: sh\n")
		s.looks(2)
		if n := strings.Count(s.log.String(), "profile is not usable"); n != 2 {
			t.Errorf("another fault is logged %d times", n-1)
		}
		s.write("mine.yaml", "command: cat\n")
		s.looks(2)
		if s.command("mine") != "cat" || len(s.Current().Faulty) != 0 {
			t.Errorf("repaired: %+v", s.Current())
		}
	})
}

func TestHalfAWordIsNotTaken(t *testing.T) {
	inShelf(t, map[string]string{"mine.yaml": "command: sh\n"}, func(s *shelf) {
		before := s.Current()
		text := "command: sh\nenv: {A: b}\ntimeout_secs: 5\n"
		for n := range len(text) { // whoever writes is slower than the library looks, but never rests
			s.write("mine.yaml", text[:n+1])
			s.looks(1)
			if s.Current() != before {
				t.Fatalf("%q was taken", text[:n+1])
			}
		}
		s.looks(1)
		if p, _ := s.Find("mine"); p.Timeout != 5*time.Second {
			t.Errorf("the whole file: %+v", p)
		}
	})
}

func TestFileThatIsReplacedIsNeverGone(t *testing.T) {
	inShelf(t, map[string]string{"mine.yaml": "command: sh\n"}, func(s *shelf) {
		for _, command := range []string{"cat", "true", "false"} {
			s.remove("mine.yaml")
			s.looks(1)
			s.expect("between two versions", "mine")
			s.write("mine.yaml", "command: "+command+"\n")
			s.looks(2)
			if got := s.command("mine"); got != command {
				t.Errorf("command is %q, want %q", got, command)
			}
		}
	})
}

// A folder behind a link stands for a file without permission: tests may run as a user who may read everything.
func TestFileThatCannotBeReadKeepsTheLastGoodVersion(t *testing.T) {
	inShelf(t, map[string]string{"mine.yaml": "command: sh\n"}, func(s *shelf) {
		path := filepath.Join(s.folder, "mine.yaml")
		s.remove("mine.yaml")
		if err := os.Mkdir(path+".d", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("mine.yaml.d", path); err != nil {
			t.Fatal(err)
		}
		s.looks(4)
		f := s.Current().Faulty
		if len(f) != 1 || !f[0].Kept || !strings.Contains(f[0].Problems.String(), "cannot be read") {
			t.Fatalf("faulty are %+v", f)
		}
		if n := strings.Count(s.log.String(), "profile is not usable"); n != 1 {
			t.Errorf("logged %d times", n)
		}
		s.remove("mine.yaml")
		s.write("mine.yaml", "command: cat\n")
		s.looks(2)
		if got := s.command("mine"); got != "cat" {
			t.Errorf("command is %q", got)
		}
	})
}

func TestFirstOfTwoFilesWithOneNameCounts(t *testing.T) {
	inShelf(t, map[string]string{"mine.yaml": "command: sh", "mine.yml": "command: cat"}, func(s *shelf) {
		f := s.Current().Faulty
		if s.command("mine") != "sh" || len(f) != 1 || f[0].Kept || !strings.Contains(f[0].Problems.String(), "is that of mine.yaml already") {
			t.Fatalf("command %q, faulty %+v", s.command("mine"), f)
		}
		s.remove("mine.yaml")
		s.looks(2)
		if s.command("mine") != "cat" || len(s.Current().Faulty) != 0 {
			t.Errorf("without the first: %+v", s.Current())
		}
	})
}

func TestFolderThatCannotBeReadLeavesEverythingInForce(t *testing.T) {
	inShelf(t, map[string]string{"mine.yaml": "command: sh"}, func(s *shelf) {
		if err := os.Rename(s.folder, s.folder+".away"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.folder, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s.looks(5)
		s.expect("a file in place of the folder", "mine")
		if n := strings.Count(s.log.String(), "folder of profiles cannot be read"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, s.log)
		}
	})
}
