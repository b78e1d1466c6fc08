package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// canaries are secrets with what makes them hard to see: characters that JSON, URLs and base64 spell differently.
func canaries() []string {
	return []string{"sk-live-4f9a0c77", `pa"ss\word/é+ x`, "aaaaaaaaab", "-----BEGIN KEY-----\nMIIEow/+==\n-----END KEY-----"}
}

func TestSecretsAreFoundInEverySpellingAndCutAnywhere(t *testing.T) {
	r := New(canaries())
	for _, secret := range canaries() {
		quoted, _ := json.Marshal(secret)
		spelled := map[string]string{
			"plain": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret), "hex": hex.EncodeToString([]byte(secret)),
			"lower percent": regexp.MustCompile("%..").ReplaceAllStringFunc(url.QueryEscape(secret), strings.ToLower),
			"json":          strings.Trim(string(quoted), `"`),
			"base64":        base64.StdEncoding.EncodeToString([]byte(secret)),
			"in base64":     base64.StdEncoding.EncodeToString([]byte("user:" + secret + "\n")),
			"in base64url":  base64.URLEncoding.EncodeToString([]byte("x" + secret + "yy")),
		}
		for name, text := range spelled {
			for cut := range text {
				s := r.Stream()
				got := s.Push("before "+text[:cut]) + s.Push(text[cut:]+" after") + s.Flush()
				if !strings.Contains(got, Mask) || strings.Contains(got, text) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
					t.Fatalf("%s of %q cut at %d: %q", name, secret, cut, got)
				}
			}
		}
	}
}

func TestSecretsAreFoundHoweverAProgramWritesItsJSON(t *testing.T) {
	r := New([]string{"pass\"/word&<é\U0001f600>"})
	for what, text := range map[string]string{
		"Go": `pass\"/word\u0026\u003cé😀\u003e`, "JavaScript": `pass\"/word&<é😀>`, "Python": `pass\"/word&<\u00e9\ud83d\ude00>`,
		"PHP": `pass\"\/word&<\u00e9\ud83d\ude00>`, "PHP, readable": `pass\"\/word&<é😀>`,
	} {
		if got := r.String(`{"key":"` + text + `"}`); got != `{"key":"`+Mask+`"}` {
			t.Errorf("%s: %s", what, got)
		}
	}
}

func TestChunkingNeverChangesTheResult(t *testing.T) {
	r := New([]string{"abcabd", "bcab", "abcabdabcabd!", "zz"})
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.StringMatching(`[abcdz!]{0,8}`)).Draw(t, "pieces")
		s := r.Stream()
		var got strings.Builder
		for _, piece := range pieces {
			got.WriteString(s.Push(piece))
		}
		got.WriteString(s.Flush())
		if want := r.String(strings.Join(pieces, "")); got.String() != want {
			t.Fatalf("got %q, want %q", got.String(), want)
		}
		for _, secret := range []string{"abcabd", "bcab", "zz"} {
			if strings.Contains(strings.ReplaceAll(got.String(), Mask, "\x00"), secret) {
				t.Fatalf("%q is in %q", secret, got.String())
			}
		}
	})
}

func TestTextWithoutSecretsIsNeverHeldLongerThanOnePiece(t *testing.T) {
	s := New([]string{"sk-live"}).Stream()
	for _, step := range []struct{ in, out string }{{"this is", "this i"}, {" it", "s it"}, {"sk-", ""}, {"etch", "sk-etch"}} {
		if got := s.Push(step.in); got != step.out {
			t.Errorf("after %q: %q, want %q", step.in, got, step.out)
		}
	}
}

func TestJSONKeepsEveryByteThatIsNoSecret(t *testing.T) {
	r := New([]string{"s3cret/é"})
	cases := map[string]string{
		`{"a": 1.0, "b":[1e400, "x<y"], "c":"\u0000"}`: `{"a": 1.0, "b":[1e400, "x<y"], "c":"\u0000"}`,
		`{"a":"s3cret\/\u00e9!", "b":"\/"}`:            `{"a":"[redacted]!", "b":"\/"}`,
		`{"s3cret/é":"\"s3cret/é\""}`:                  `{"[redacted]":"\"[redacted]\""}`,
		`"s3cret/é"`:                                   `"[redacted]"`,
		`not json s3cret/é`:                            `not json [redacted]`,
		``:                                             ``,
	}
	for in, want := range cases {
		if got := string(r.JSON(json.RawMessage(in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestReaderRedactsOverReads(t *testing.T) {
	r := New([]string{"sk-live-4f9a0c77"})
	text := strings.Repeat("x", chunkSize-5) + "sk-live-4f9a0c77 end"
	for _, from := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
		got, err := io.ReadAll(r.Reader(from))
		if err != nil || string(got) != strings.Repeat("x", chunkSize-5)+Mask+" end" {
			t.Fatalf("%d bytes, error %v", len(got), err)
		}
	}
}

func TestNoSecretsMeansNoChange(t *testing.T) {
	r := New([]string{""})
	s := r.Stream()
	if !r.Idle() || s.Push("sk-")+s.Flush() != "sk-" || r.String("x") != "x" {
		t.Fatal("changed")
	}
}

func FuzzJSONStaysJSON(f *testing.F) {
	f.Add([]byte(`{"a":["abcd1234\n",{"b":null}]}`))
	r := New([]string{"abcd", "\n", `"`, "a"})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := r.JSON(raw); json.Valid(raw) && !json.Valid(got) {
			t.Fatalf("%q became %q", raw, got)
		}
	})
}
