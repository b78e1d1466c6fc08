package omni_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// FuzzDecode holds what is read to be the line that came, whatever is done with it.
func FuzzDecode(f *testing.F) {
	for _, p := range payloads() {
		f.Add(made(f, p).Line())
	}
	f.Add([]byte(`{"type":"model_msg","payload":{"type":"tool_call_output","images":[[],{"a":1}]},"origin":[null]}`))
	f.Add([]byte(`{ "origin" : [ "s" ] , "type":"event_msg","payload":{"type":"abort"} }`))
	f.Add([]byte(`{"type":"event_msg" , "\u006frigin":["a","b"] , "payload":{"type":"abort","origin":["c"]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := omni.Decode(line)
		if err != nil {
			return
		}
		if !bytes.Equal(m.Bytes(), bytes.TrimSuffix(line, []byte("\n"))) {
			t.Fatalf("%q became %q", line, m.Bytes())
		}
		invalid := m.Validate()
		body, wrong := m.Body()
		if invalid == nil && wrong != nil {
			t.Fatalf("%q is right and cannot be read: %v", line, wrong)
		}
		if invalid == nil && body != nil {
			rewritten(t, m, body)
		}
		passed, err := m.WithOrigin("s")
		if err == nil && (!passed.IsOfSubagent() || !bytes.Equal(passed.Payload(), m.Payload())) {
			t.Fatalf("%q was passed on as %q", line, passed.Bytes())
		}
		if err == nil {
			asRead(t, passed)
		}
		if bare := passed.WithoutOrigin(); err == nil && !m.IsOfSubagent() && !bytes.Equal(bare.Bytes(), m.Bytes()) {
			t.Fatalf("%q came back as %q", m.Bytes(), bare.Bytes())
		}
		if bare := m.WithoutOrigin(); bare.IsOfSubagent() || !bytes.Equal(bare.Payload(), m.Payload()) || bare.Timestamp() != m.Timestamp() {
			t.Fatalf("%q without its origin is %q", m.Bytes(), bare.Bytes())
		}
	})
}

// rewritten makes the message of a body anew, and that must be the same ever after.
func rewritten(t *testing.T, m omni.Message, body omni.Payload) {
	t.Helper()
	again, err := omni.New(m.Time(), body)
	if err != nil {
		t.Fatalf("%q cannot be written again: %v", m.Bytes(), err)
	}
	asRead(t, again)
	body, err = again.Body()
	if err != nil {
		t.Fatalf("%q cannot be read again: %v", again.Bytes(), err)
	}
	if twice, err := omni.New(m.Time(), body); err != nil || !bytes.Equal(twice.Bytes(), again.Bytes()) {
		t.Fatalf("%q became %q, %v", again.Bytes(), twice.Bytes(), err)
	}
}

// FuzzMembers holds the walk over objects and lists to encoding/json.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{}`, ` { "a" : 1 , "b\"":[ {} , "]" ] } `, `[]`, `[ 1 ,"\\", {"a":[1,2]},null]`, oddFidelity} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		first := bytes.TrimSpace(value)
		if !json.Valid(value) || first[0] != '{' && first[0] != '[' {
			return
		}
		d := json.NewDecoder(bytes.NewReader(value))
		if _, err := d.Token(); err != nil {
			t.Fatal(err)
		}
		var keys []string
		var values [][]byte
		if first[0] == '{' {
			keys, values = omni.Members(value)
		} else {
			values = omni.Elements(value)
		}
		n := 0
		for ; d.More(); n++ {
			if first[0] == '{' {
				key, err := d.Token()
				if err != nil || n >= len(keys) || key != keys[n] {
					t.Fatalf("%q: %q instead of %v", value, keys, key)
				}
			}
			var want json.RawMessage
			if err := d.Decode(&want); err != nil || n >= len(values) || !bytes.Equal(want, values[n]) {
				t.Fatalf("%q: %q instead of %q", value, values, want)
			}
		}
		if n != len(values) {
			t.Fatalf("%q: %d values, want %d", value, len(values), n)
		}
	})
}

// TestAnyPayloadIsReadAsItWasMade draws texts of all kinds.
func TestAnyPayloadIsReadAsItWasMade(t *testing.T) {
	fidelity := rapid.SampledFrom([]string{"", `{}`, oddFidelity, `{"a":{"b":[1.0,"\u003c"]}}`})
	reasons := rapid.SampledFrom(append([]omni.StopReason{""}, omni.StopReasons()...))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		call := omni.ToolCall(rapid.StringN(1, 8, -1).Draw(t, "id"), rapid.StringN(1, 8, -1).Draw(t, "name"), text.Draw(t, "arguments"))
		call.StopReason = reasons.Draw(t, "reason")
		if f := fidelity.Draw(t, "fidelity"); f != "" {
			call.Fidelity = raw(f)
		}
		m := made(t, call)
		for passed := m; len(passed.Origin()) < 3; {
			var err error
			if passed, err = passed.WithOrigin(rapid.StringN(1, 8, -1).Draw(t, "session")); err != nil {
				t.Fatal(err)
			}
			asRead(t, passed)
		}
		got, err := m.Body()
		if err != nil {
			t.Fatal(err)
		}
		back, ok := got.(omni.ToolCallPayload)
		if !ok || string(back.Fidelity) != string(call.Fidelity) {
			t.Fatalf("%+v", got)
		}
		if back.Name != call.Name || back.Arguments != call.Arguments || back.ToolCallID != call.ToolCallID || back.StopReason != call.StopReason {
			t.Fatalf("%+v became %+v", call, back)
		}
	})
}
