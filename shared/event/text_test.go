package event_test

import (
	"encoding/json"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
)

func FuzzTextIsWhatJSONSays(f *testing.F) {
	for _, seed := range []string{`"plain"`, `"a\nb"`, `"\ud83d\ude80"`, "\"caf\xc3\"", `""`, `7`, `null`, `{"a":"b"}`, `["x"]`, `true`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var raw json.RawMessage
		if json.Unmarshal(data, &raw) != nil {
			return
		}
		var want any
		if err := json.Unmarshal(raw, &want); err != nil {
			return // a number beyond the range of floats
		}
		text, isString := want.(string)
		if got, ok := event.Text(raw); got != text || ok != isString {
			t.Fatalf("%q is %q, %v; JSON says %v", raw, got, ok, want)
		}
	})
}
