package event_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/event"
)

func asEncoded(t testing.TB, s string) {
	t.Helper()
	want, err := event.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := event.AppendString([]byte("x"), s); string(got) != "x"+string(want) {
		t.Fatalf("%q is written %s, want %s", s, got[1:], want)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "plain text", "a \"quote\" and \\", "\x00\x1f\x7f\b\t\n\f\r", "<&>", "信封 \u2028 \u2029 \ufffd 🚀", "cut \xe4\xbf", "\xff\xfe"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) { asEncoded(t, s) })
}

// Each byte stands once at each place of the eight that are looked at together, beside plain ones and beside its like.
func TestAppendStringWritesEachByteAsEncodeDoes(t *testing.T) {
	for c := range 256 {
		for at := range 17 {
			s := []byte("0123456789abcdefg")
			s[at] = byte(c)
			asEncoded(t, string(s))
			for next := range 256 {
				s[(at+1)%len(s)] = byte(next)
				if at < 8 {
					asEncoded(t, string(s))
				}
			}
		}
	}
}

func TestAppendStringWritesAnyTextAsEncodeDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~"\\\n\x{2028}é漢]{0,80}`)).Draw(t, "s")
		want, err := event.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := event.AppendString(nil, s); string(got) != string(want) {
			t.Fatalf("%q is written %s, want %s", s, got, want)
		}
	})
}

func BenchmarkAppendString(b *testing.B) {
	for name, s := range map[string]string{
		"plain": strings.Repeat("The tests pass. ", 19)[:300],
		"mixed": strings.Repeat("I read \"a, b\" as one: 一个信封、三类消息.\nNext is the reader. Words that go on. ", 4)[:300],
	} {
		b.Run(name, func(b *testing.B) {
			dst := make([]byte, 0, 1024)
			for b.Loop() {
				dst = event.AppendString(dst[:0], s)
			}
		})
	}
}
