package localapi

import (
	"net/url"
	"strconv"
	"testing"
)

// FuzzCursor: what is read as a cursor is a number that a journal can have, and means the same when it is written again.
func FuzzCursor(f *testing.F) {
	for _, s := range []string{"", "0", "1", "007", "-1", "+1", "9223372036854775806", "9223372036854775807", "1e3", " 1", "１"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseCursor(url.Values{"cursor": {s}})
		if err != nil {
			return
		}
		if got < 1 || got > 1<<63-2 {
			t.Fatalf("%q is read as %d", s, got)
		}
		again, err := parseCursor(url.Values{"pageCursor": {strconv.FormatUint(uint64(got), 10)}})
		if again != got || err != nil {
			t.Fatalf("%q is read as %d, and that as %d, %v", s, got, again, err)
		}
		if _, err := parseAfter(url.Values{"after_seq": {s}}); err != nil {
			t.Fatalf("%q is a cursor and no after_seq: %v", s, err)
		}
	})
}
