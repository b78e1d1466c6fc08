package cards

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// pageBlock is a transcript on the page: its events in short, or all its bytes.
var pageBlock = regexp.MustCompile("(?s)<!-- (in short|in full): ([a-z0-9-]+) -->\n```\\w*\n(.*?)```\n")

var pageLock sync.Mutex // tests that write transcripts run side by side

func pageFile() string { return filepath.Join(rig.Root(), "docs", "protocols", "cards-transcripts.md") }

// page is docs/protocols/cards-transcripts.md as it is, and as it would be with the transcripts of testdata. shown are those that it has in short.
func page(t *testing.T) (is, should string, shown []string) {
	t.Helper()
	text, err := os.ReadFile(pageFile())
	if err != nil {
		t.Fatal(err)
	}
	should = pageBlock.ReplaceAllStringFunc(string(text), func(block string) string {
		m := pageBlock.FindStringSubmatch(block)
		kind, name, body := m[1], m[2], m[3]
		said := golden(t, name)
		if kind == "in short" {
			said = short(t, said)
			shown = append(shown, name)
		}
		return strings.TrimSuffix(block, body+"```\n") + said + "```\n"
	})
	return string(text), should, shown
}

// writePage writes the page anew.
func writePage(t *testing.T) {
	t.Helper()
	pageLock.Lock()
	defer pageLock.Unlock()
	_, should, _ := page(t)
	if err := os.WriteFile(pageFile(), []byte(should), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The page has all transcripts, as they are.
func TestThePageShowsTheTranscripts(t *testing.T) {
	if *update {
		writePage(t)
	}
	is, should, shown := page(t)
	if is != should {
		t.Errorf("the page is not as the transcripts are; run with -update:\n%s", rig.Diff(strings.Split(should, "\n"), strings.Split(is, "\n")))
	}
	files, err := filepath.Glob(goldenFile("*"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, file := range files {
		all = append(all, strings.TrimSuffix(filepath.Base(file), ".txt"))
	}
	slices.Sort(all)
	slices.Sort(shown)
	if !slices.Equal(shown, all) {
		t.Errorf("the page shows %v, there are %v", shown, all)
	}
}

// short is a transcript for people: of each event its number, what it is about, whose it is, its payload, and for an end how long that took.
func short(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(text) {
		if frame, ofHub := strings.CutPrefix(line, byHub); ofHub {
			line = byHub + brief(t, frame) + "\n"
		}
		out.WriteString(line)
	}
	return out.String()
}

func brief(t *testing.T, frame string) string {
	t.Helper()
	e, err := card.Decode([]byte(frame))
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	v := e.Envelope
	if v.Seq > 0 {
		words = append(words, strconv.FormatUint(uint64(v.Seq), 10))
	}
	words = append(words, string(e.Type))
	if v.CardID != "" {
		words = append(words, string(v.CardKind), v.CardID)
	}
	if v.ParentCardID != "" {
		words = append(words, "under", v.ParentCardID)
	}
	if v.AgentID != card.MainAgent {
		words = append(words, "by", v.AgentID)
	}
	words = append(words, string(e.Payload))
	if e.Metrics != nil {
		metrics, err := event.Encode(e.Metrics)
		if err != nil {
			t.Fatal(err)
		}
		words = append(words, "metrics", string(metrics))
	}
	return strings.Join(words, " ")
}
