package omni_test

import "testing"

func TestAnOriginIsTakenOffAndNothingElse(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"event_msg","payload":{"type":"abort"},"origin":["a","b"]}`:        `{"type":"event_msg","payload":{"type":"abort"}}`,
		`{"origin":["a"],"type":"event_msg","payload":{"type":"abort"}}`:            `{"type":"event_msg","payload":{"type":"abort"}}`,
		`{ "origin" : ["a"] , "type":"event_msg", "payload":{"type":"abort"} }`:     `{"type":"event_msg", "payload":{"type":"abort"} }`,
		`{"type":"event_msg" , "\u006frigin":["a"] ,"payload":{"origin":["kept"]}}`: `{"type":"event_msg"  ,"payload":{"origin":["kept"]}}`,
		`{"type":"event_msg","payload":{}}`:                                         `{"type":"event_msg","payload":{}}`,
	} {
		if got := read(t, line).WithoutOrigin(); string(got.Bytes()) != want || got.IsOfSubagent() {
			t.Errorf("%s became %s, want %s", line, got.Bytes(), want)
		}
	}
}
