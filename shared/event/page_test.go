package event_test

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
)

var update = flag.Bool("update", false, "write golden files and api/events.md again")

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; if that is meant, run with -update\n got: %s\nwant: %s", path, got, want)
	}
}

func TestPageOfEventsIsWhatTheTablesSay(t *testing.T) {
	var page bytes.Buffer
	if err := event.WriteDoc(&page); err != nil {
		t.Fatal(err)
	}
	golden(t, "../../api/events.md", page.Bytes())
}

func TestFramesAreTheThirtyOneWithKeyAndRepeat(t *testing.T) {
	seen := map[event.FrameType]bool{}
	for _, f := range event.Frames() {
		if seen[f.Type] || f.Key == "" || len(f.Repeat) == 0 || f.Meaning == "" {
			t.Errorf("incomplete or double: %+v", f)
		}
		seen[f.Type] = true
	}
	if len(seen) != 31 {
		t.Errorf("%d frames, want 31", len(seen))
	}
	forbidden := regexp.MustCompile(`^(sync\..*|run\.agent\.plan_.*|agent\.regenerate|message\.edited|agent\.timeout|auth|auth\.fail)$`)
	for f := range seen {
		if forbidden.MatchString(string(f)) {
			t.Errorf("%s must not be a frame", f)
		}
	}
}
