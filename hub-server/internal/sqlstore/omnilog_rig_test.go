package sqlstore

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// folder is the conversations as one hub process has them.
func folder(s *Store, w *Writer, every int, page omnilog.Page) *omnilog.Logs {
	return omnilog.New(omnilog.Config{
		Store: NewOmni(s, w), Log: slog.New(slog.DiscardHandler), Metrics: omnilog.NewMetrics(telemetry.NewRegistry("hub")), Every: every, Page: page,
	})
}

// fresh is a hub that stores no checkpoint and has read nothing.
func (r *record) fresh() *omnilog.Logs { return folder(r.store, r.writer, 1<<30, omnilog.Page{}) }

// told is a stream behind a place, as a line for each message with where it stands.
func told(tb testing.TB, l *omnilog.Logs, session id.Session, after int64, bytes int) (lines []string) {
	tb.Helper()
	r, _, err := l.Follow(tb.Context(), session, after)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	return rest(tb, r, bytes)
}

// rest is what a reader has not read, in reads of so many bytes.
func rest(tb testing.TB, r *omnilog.Reader, bytes int) (lines []string) {
	tb.Helper()
	for more := true; more; {
		var entries []omnilog.Entry
		var err error
		if entries, more, err = r.Read(tb.Context(), bytes); err != nil {
			tb.Fatal(err)
		}
		for _, e := range entries {
			for n, m := range e.Messages {
				lines = append(lines, fmt.Sprintf("%d.%d %s", e.Place, n, m.Bytes()))
			}
		}
	}
	return lines
}

// behind are the lines of a stream behind a place.
func behind(lines []string, place int64) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return placeOf(line) <= place })
}

func placeOf(line string) (place int64) {
	fmt.Sscan(line, &place) //nolint:errcheck // it begins with one
	return place
}

// complete are the lines of a history.
func complete(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.Contains(line, `"payload":{"type":"partial_`) })
}

func linesOf(items []omnilog.Item) (lines []string) {
	for _, i := range items {
		lines = append(lines, fmt.Sprintf("%d.%d %s", i.Place, i.N, i.Message.Bytes()))
	}
	return lines
}

// sameLines compares two stretches of a stream.
func sameLines(tb testing.TB, what string, got, want []string) {
	tb.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			tb.Fatalf("%s: %d messages, want %d; the first that is missing is\n%s", what, len(got), len(want), want[i])
		case i >= len(want):
			tb.Fatalf("%s: %d messages, want %d; the first that is too many is\n%s", what, len(got), len(want), got[i])
		case got[i] != want[i]:
			tb.Fatalf("%s: message %d is\n%s\nwant\n%s", what, i, got[i], want[i])
		}
	}
}
