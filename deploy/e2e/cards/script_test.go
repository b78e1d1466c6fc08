package cards

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// Who says a line of a script.
const (
	byClient = "→ "
	byHub    = "← "
	byNobody = "# " // what happens meanwhile
)

// script is what was said about one conversation, on one connection after the other.
type script struct {
	t     *testing.T
	lines []string
	told  [][]byte // the numbered events, as they first came
}

// note adds what happens without a word.
func (s *script) note(what string) { s.lines = append(s.lines, byNobody+what) }

// said adds what a client says.
func (s *script) said(frame []byte) {
	s.lines = append(s.lines, byClient+string(bytes.TrimSuffix(frame, []byte("\n"))))
}

// heard adds what the hub says. Its numbered events have no hole, and one that comes again has the bytes that it had.
func (s *script) heard(raw []byte, e card.Event) {
	s.t.Helper()
	switch seq, last := e.Envelope.Seq, card.Seq(len(s.told)); {
	case seq == last+1:
		s.told = append(s.told, raw)
	case seq > last:
		s.t.Errorf("event %d comes after event %d", seq, last)
	case seq > 0 && !bytes.Equal(raw, s.told[seq-1]):
		s.t.Errorf("event %d was %s and is %s", seq, s.told[seq-1], raw)
	}
	s.lines = append(s.lines, byHub+s.timeless(raw, e))
}

// last is the number of the newest event.
func (s *script) last() int64 { return int64(len(s.told)) }

// timeless is an event without how long things took, as no two plays have that in common.
func (s *script) timeless(raw []byte, e card.Event) string {
	s.t.Helper()
	if same := s.encode(e); same != string(raw) {
		s.t.Errorf("said %s, which reads as %s", raw, same)
	}
	if e.Type == card.Close && e.Envelope.CardKind != card.Artifact {
		took := card.Metrics{} // of what ended within the millisecond nothing is known
		switch {
		case e.Metrics != nil:
			took = *e.Metrics
		case e.Envelope.CardKind == card.Turn:
			s.t.Errorf("a turn has taken no time: %s", raw)
		}
		took.DurationMS = 1
		e.Metrics = &took
	}
	return strings.TrimSuffix(s.encode(e), "\n")
}

func (s *script) encode(e card.Event) string {
	s.t.Helper()
	line, err := event.Encode(e)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(line) + "\n"
}

// text is the whole script.
func (s *script) text() string { return plain(strings.Join(s.lines, "\n") + "\n") }

// numbered is what of a text is in the trace: what anybody is told who resumes from the beginning.
func numbered(text string) string {
	var kept strings.Builder
	known := map[string]bool{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, byHub) && strings.Contains(line, `,"seq":`) && !known[line] {
			known[line] = true
			kept.WriteString(line)
		}
	}
	return plain(kept.String())
}

var (
	anyTime = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	anyID   = regexp.MustCompile(`\b(sess|tr|run|turn|msg|evt|req|art|agent|user)_[0-9a-f][0-9a-f-]*\b`)
)

// plain gives ids the same names in every play: they are counted by kind, in the order in which they come. All times are one.
func plain(text string) string {
	names, counts := map[string]string{}, map[string]int{}
	text = anyTime.ReplaceAllStringFunc(text, func(at string) string { return "2026-01-02T03:04:05.000000000Z"[:len(at)-1] + "Z" })
	return anyID.ReplaceAllStringFunc(text, func(id string) string {
		if names[id] == "" {
			kind, _, _ := strings.Cut(id, "_")
			counts[kind]++
			names[id] = fmt.Sprintf("%s_%d", kind, counts[kind])
		}
		return names[id]
	})
}

func goldenFile(name string) string { return filepath.Join("testdata", name+".txt") }

// golden returns a transcript of testdata.
func golden(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(goldenFile(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// mustBe checks the script against the transcript of that name, or writes that anew.
func (s *script) mustBe(name string) {
	s.t.Helper()
	got := s.text()
	if *update {
		if err := os.WriteFile(goldenFile(name), []byte(got), 0o600); err != nil {
			s.t.Fatal(err)
		}
		writePage(s.t)
	}
	if want := golden(s.t, name); got != want {
		s.t.Errorf("%s is said otherwise; if that is meant, run with -update:\n%s", name, rig.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
	}
}
