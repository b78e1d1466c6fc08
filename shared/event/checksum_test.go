package event_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestCanonicalForm(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{` { "b" : 1 , "a" : [ true , null , "x" ] } `, `{"a":[true,null,"x"],"b":1}`},
		{`{"é":1,"z":2,"a":3,"😀":4}`, `{"a":3,"z":2,"é":1,"😀":4}`},
		{`[1.0,1e400,-0,0.10E+05,123456789012345678901234567890]`, `[1.0,1e400,-0,0.10E+05,123456789012345678901234567890]`},
		{`"\u0000\u001f\b\f\n\r\t\"\\\/\u007f"`, `"\u0000\u001f\b\f\n\r\t\"\\/` + "\x7f" + `"`},
		{`"\u003c<\u00e9\u2028\ud83d\ude00"`, "\"<<é\u2028😀\""},
		{`{"a":1,"a":2}`, `{"a":2}`},
		{`{}`, `{}`}, {`[]`, `[]`}, {`null`, `null`}, {`false`, `false`},
	} {
		got, err := event.Canonical(json.RawMessage(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s\n got %s (%v)\nwant %s", c.in, got, err, c.want)
		}
	}
}

func TestChecksumIsThatOfTheCanonicalForm(t *testing.T) {
	// printf '{"a":[1.0,1e400],"b":"\\u0000"}' | sha256sum
	const want = "1ce0d1a19cf8e945f177cabf5a23885a870415da92edb26a4dbf3e5edb764fd2"
	for _, spelling := range []string{`{"a":[1.0,1e400],"b":"\u0000"}`, "{ \"b\":\"\\u0000\",\n\"a\":[1.0, 1e400] }"} {
		if got, err := event.Checksum(json.RawMessage(spelling)); err != nil || got != want {
			t.Errorf("%s: %s, %v", spelling, got, err)
		}
	}
}

func TestChecksumNeedsOneValue(t *testing.T) {
	for _, bad := range []string{``, `{`, `{} {}`, `1 x`, `nul`} {
		if sum, err := event.Checksum(json.RawMessage(bad)); err == nil {
			t.Errorf("%q has checksum %s", bad, sum)
		}
	}
}

func TestTextChecksumIsOverTheBytes(t *testing.T) {
	if got := event.TextChecksum("abc"); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Error(got)
	}
}

func TestCanonicalFormIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.String())).Draw(t, "value")
		indented, err := json.MarshalIndent(value, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		once, err := event.Canonical(indented)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := event.Canonical(once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("%s became %s, %v", once, twice, err)
		}
		var back map[string][]string
		if err := json.Unmarshal(once, &back); err != nil || len(back) != len(value) {
			t.Fatalf("%s: %v", once, err)
		}
	})
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"b":1,"a":[1.0,1e400]}`, `"\u0000\ud800"`, `[`, `{"a":{"a":{}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := event.Canonical(data)
		if err != nil {
			return
		}
		if !json.Valid(once) {
			t.Fatalf("not JSON: %s", once)
		}
		if twice, err := event.Canonical(once); err != nil || string(twice) != string(once) {
			t.Fatalf("%s became %s, %v", once, twice, err)
		}
	})
}

func TestDepth(t *testing.T) {
	for text, want := range map[string]int{
		``: 0, `1`: 0, `{}`: 1, `[[],[[]]]`: 3, `{"a":"[[[["}`: 1, `{"a\"[":["\\",[]]}`: 3, `]]]]`: 0,
		strings.Repeat("[", 1000): 1000,
	} {
		if got := event.Depth([]byte(text)); got != want {
			t.Errorf("%.40q is %d deep, want %d", text, got, want)
		}
	}
}

func TestTraceIDs(t *testing.T) {
	hex := strings.Repeat("0a", 16)
	text, err := event.FormatTraceID(hex)
	if err != nil || text != "trace_"+hex {
		t.Fatalf("%q, %v", text, err)
	}
	if back, err := event.ParseTraceID(text); err != nil || back != hex {
		t.Errorf("%q, %v", back, err)
	}
	for _, bad := range []string{"", hex[1:], strings.ToUpper(hex), strings.Repeat("0", 32), hex + "0", "trace_" + hex} {
		if got, err := event.FormatTraceID(bad); err == nil {
			t.Errorf("formatted %q as %q", bad, got)
		}
		if got, err := event.ParseTraceID("trace_" + bad); err == nil {
			t.Errorf("parsed %q as %q", bad, got)
		}
	}
	if _, err := event.ParseTraceID(hex); err == nil {
		t.Error("parsed an id without its prefix")
	}
}
