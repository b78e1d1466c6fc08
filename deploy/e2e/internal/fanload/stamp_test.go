package fanload

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// stamps are as a publisher makes them.
var stamps = rapid.Custom(func(t *rapid.T) stamped {
	return stamped{
		at:  rapid.Int64Range(1e18, 9e18).Draw(t, "at"),
		by:  rapid.IntRange(0, maxPublishers-1).Draw(t, "by"),
		nth: rapid.Uint32Range(1, 999_999_999).Draw(t, "nth"),
	}
})

// A stamp is found again in whatever a protocol wraps around it: our hub puts JSON into a string of JSON.
func TestAStampIsFoundAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent := rapid.SliceOfN(stamps, 0, 5).Draw(t, "stamps")
		var text strings.Builder
		for _, s := range sent {
			inner, err := json.Marshal(map[string]string{"delta": s.payload()})
			if err != nil {
				t.Fatal(err)
			}
			outer, err := json.Marshal(map[string]string{"payload": string(inner)})
			if err != nil {
				t.Fatal(err)
			}
			text.Write(outer)
		}
		rest := []byte(text.String())
		for i, want := range sent {
			got, behind, ok := nextStamp(rest)
			if !ok || got != want {
				t.Fatalf("stamp %d is %v, %v, want %v", i, got, ok, want)
			}
			rest = behind
		}
		if got, _, ok := nextStamp(rest); ok {
			t.Fatalf("found %v that nobody sent", got)
		}
	})
}

func TestEveryPayloadHasOneSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if p := stamps.Draw(t, "stamp").payload(); len(p) != payloadSize {
			t.Fatalf("%d bytes: %s", len(p), p)
		}
	})
}
