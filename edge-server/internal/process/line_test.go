package process

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"unicode/utf8"
)

func TestLinesOfEveryKind(t *testing.T) {
	cases := []struct {
		name, stream string
		want         []string
	}{
		{"nothing", "", nil},
		{"only a line end", "\n", []string{""}},
		{"Windows line ends", "a\r\nb\r\n", []string{"a", "b"}},
		{"a carriage return inside", "a\rb\n", []string{"a\rb"}},
		{"no line end at the end", "a\nb", []string{"a", "b"}},
		{"exactly the limit", "12345678\nx\n", []string{"12345678", "x"}},
		{"one more than the limit", "123456789\nx\n", []string{"12345678" + CutMarker(1), "x"}},
		{"cut in the middle of a character", "1234567é\nx\n", []string{"1234567" + CutMarker(2), "x"}},
		{"cut between characters", "123456é7\n", []string{"123456é" + CutMarker(1)}},
		{"cut inside bytes that are no characters", "1234567\xff\xff\n", []string{"1234567\xff" + CutMarker(1)}},
		{"characters of every length", "aé€\r\n😀😀\n", []string{"aé€", "😀😀"}},
		{"NUL and bytes that are no characters", "a\x00\xff\n\xe2\x82", []string{"a\x00\xff", "\xe2\x82"}},
		{"half of a Windows line end at the end", "a\r", []string{"a"}},
		{"cut and no line end", "1234567890", []string{"12345678" + CutMarker(2)}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := readAll(t, strings.NewReader(c.stream), 8); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := readAll(t, iotest.OneByteReader(strings.NewReader(c.stream)), 8); !slices.Equal(got, c.want) {
				t.Errorf("byte by byte: got %q, want %q", got, c.want)
			}
		})
	}
}

func readAll(t *testing.T, r io.Reader, limit int) []string {
	t.Helper()
	lines := NewLineReader(r, limit)
	var got []string
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line.String())
	}
}

func TestClipKeepsTheBeginningAndCountsTheRest(t *testing.T) {
	for _, c := range []struct {
		line  Line
		limit int
		want  string
	}{
		{Line{Text: []byte("short")}, 8, "short"},
		{Line{Text: []byte("12345678")}, 8, "12345678"},
		{Line{Text: []byte("1234567é")}, 8, "1234567" + CutMarker(2)},
		{Line{Text: []byte("123456789"), Cut: 100}, 8, "12345678" + CutMarker(101)},
		{Line{Text: []byte("short"), Cut: 1}, 8, "short" + CutMarker(1)},
	} {
		if got := c.line.Clip(c.limit); got != c.want {
			t.Errorf("%q: got %q, want %q", c.line.Text, got, c.want)
		}
	}
}

func FuzzLineReaderLosesNothingButWhatItSaysItCut(f *testing.F) {
	f.Add([]byte("a\r\nb\n\xc3\xa9\x00"), 4)
	f.Add(bytes.Repeat([]byte("é"), 70_000), 9)
	f.Fuzz(func(t *testing.T, stream []byte, limit int) {
		if limit < 1 || limit > 1<<16 {
			return
		}
		lines := NewLineReader(bytes.NewReader(stream), limit)
		for _, want := range bytes.SplitAfter(stream, []byte("\n")) {
			if len(want) == 0 {
				continue // nothing behind the last line end
			}
			line, err := lines.Next()
			if err != nil {
				t.Fatalf("line %q: %v", want, err)
			}
			checkLine(t, line, want, limit)
		}
		if _, err := lines.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("after the last line: %v", err)
		}
	})
}

func checkLine(t *testing.T, line Line, want []byte, limit int) {
	t.Helper()
	text := bytes.TrimSuffix(want, []byte("\n"))
	if line.Cut == 0 {
		if !bytes.Equal(line.Text, bytes.TrimSuffix(text, []byte("\r"))) {
			t.Fatalf("got %q of %q", line.Text, want)
		}
		return
	}
	if len(text) <= limit || !bytes.HasPrefix(text, line.Text) || int64(len(text)-len(line.Text)) != line.Cut {
		t.Fatalf("kept %d, cut %d of %d bytes with limit %d", len(line.Text), line.Cut, len(text), limit)
	}
	if utf8.Valid(text) && !utf8.Valid(line.Text) {
		t.Fatalf("a character was cut in two: %q", line.Text)
	}
}

func TestTailKeepsTheEndFromTheStartOfALine(t *testing.T) {
	keep := tail{limit: 10}
	for _, piece := range []string{"first\n", "second line\n", "third\n", "end"} {
		if n, err := keep.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	end, cut := keep.text()
	if end != "third\nend" || cut != int64(len("first\nsecond line\n")) {
		t.Fatalf("end %q, cut %d", end, cut)
	}
	if cap(keep.buf) > 64 {
		t.Errorf("a tail of 10 bytes holds %d", cap(keep.buf))
	}
}

// blockedPipe takes a write only when it is told to.
type blockedPipe struct{ let chan struct{} }

func (p blockedPipe) Write(b []byte) (int, error) {
	if _, open := <-p.let; !open {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

func (blockedPipe) Close() error { return nil }

func TestInputSaysWhenItIsWrittenAndWhenNothingMoreWillBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, pipe := NewInput(), blockedPipe{make(chan struct{})}
		written := 0
		for range 2 {
			if err := in.SendThen([]byte("x"), func() { written++ }); err != nil {
				t.Fatal(err)
			}
		}
		var writer sync.WaitGroup
		writer.Go(func() { in.copyTo(pipe) })
		synctest.Wait()
		before := written
		pipe.let <- struct{}{}
		synctest.Wait()
		if before != 0 || written != 1 {
			t.Errorf("written %d, then %d", before, written)
		}
		select {
		case <-in.Done():
			t.Error("done while something waits")
		default:
		}
		close(pipe.let) // the agent is gone
		<-in.Done()
		writer.Wait()
		if written != 1 {
			t.Errorf("%d written, one was refused", written)
		}
	})
}

func TestInputIsBoundedAndEndsOnce(t *testing.T) {
	in := NewInput()
	for range maxInput {
		if err := in.Send([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Send(nil); !errors.Is(err, ErrInputFull) {
		t.Errorf("full: %v", err)
	}
	in.Close()
	in.Close()
	if err := in.Send(nil); !errors.Is(err, ErrInputClosed) {
		t.Errorf("closed: %v", err)
	}
}
