package bridge

import (
	"encoding/json"
	"testing"
)

// encoding/json's maps are what split must agree with.
func FuzzMembersAreWhatJSONSays(f *testing.F) {
	for _, seed := range []string{
		`{"type":"partial","text":"x"}`, `{}`, ` { "a" : [ {"b":"]"} , 1e5 ] , "a":null,"c" :true}\t`, `{"\u0061":"\"","b":{}}`, `[]`, `null`, `{"a":-0.1}`,
		"{\"\xff\":\"\xfe\"}", `{"":""}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, reason := object(data)
		var want map[string]json.RawMessage
		err := json.Unmarshal(data, &want)
		if reason == ReasonTooDeep {
			return
		}
		if (reason == "") != (err == nil && want != nil) {
			t.Fatalf("%q: %s, JSON says %v", data, reason, err)
		}
		for name, value := range want {
			if string(got.raw(name)) != string(value) {
				t.Fatalf("%q: %q is %q, JSON says %q", data, name, got.raw(name), value)
			}
		}
		for _, m := range got {
			if _, ok := want[string(m.name)]; !ok {
				t.Fatalf("%q: invented %q", data, m.name)
			}
		}
	})
}
