package wire_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestFrameBytes(t *testing.T) {
	frame := wire.Frame{Generation: 3, First: 300, Rows: [][]byte{[]byte(`{"a":"<"}`), {}, []byte("\x00\xff")}}
	// magic, generation 3, first 300, 3 rows: 9 bytes, none, 2 bytes
	const want = "53594631" + "03" + "ac02" + "03" + "09" + "7b2261223a223c227d" + "00" + "02" + "00ff"
	if got := hex.EncodeToString(frame.Append(nil)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := frame.Append([]byte("before")); !bytes.HasPrefix(got, []byte("beforeSYF1")) {
		t.Errorf("appended %q", got)
	}
}

func TestFramesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frame := wire.Frame{
			Generation: wire.Generation(rapid.Uint64().Draw(t, "generation")),
			First:      wire.ProducerSeq(rapid.Uint64Range(1, math.MaxUint64-100).Draw(t, "first")),
			Rows:       rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 300), 1, 50).Draw(t, "rows"),
		}
		got, err := wire.DecodeFrame(frame.Append(nil))
		if err != nil || got.Generation != frame.Generation || got.First != frame.First || !slices.EqualFunc(got.Rows, frame.Rows, bytes.Equal) {
			t.Fatalf("got %+v, %v", got, err)
		}
		if last := got.Last(); last != frame.First+wire.ProducerSeq(len(frame.Rows))-1 || last < frame.First {
			t.Fatalf("last is %d", last)
		}
	})
}

func TestMalformedFramesAreRefused(t *testing.T) {
	good := wire.Frame{Generation: 1, First: 1, Rows: [][]byte{[]byte("row")}}.Append(nil)
	for i := range good {
		if got, err := wire.DecodeFrame(good[:i]); !errors.Is(err, wire.ErrFrame) {
			t.Errorf("cut after %d bytes: %+v, %v", i, got, err)
		}
	}
	endless := strings.Repeat("\xff", 11)
	for name, data := range map[string]string{
		"another magic":            "SYF2" + string(good[4:]),
		"bytes behind":             string(good) + "x",
		"no rows":                  "SYF1\x01\x01\x00",
		"first row zero":           "SYF1\x01\x00\x01\x00",
		"too many rows":            "SYF1\x01\x01\x81\x20" + strings.Repeat("\x00", 4097),
		"count beyond the data":    "SYF1\x01\x01\x05\x00",
		"row beyond the data":      "SYF1\x01\x01\x01\x05abc",
		"endless number":           "SYF1" + endless,
		"endless row length":       "SYF1\x01\x01\x01" + endless,
		"numbers beyond the range": "SYF1\x01" + strings.Repeat("\xff", 9) + "\x01\x01\x00",
		"row too large":            string(wire.Frame{First: 1, Rows: [][]byte{make([]byte, wire.MaxRow+1)}}.Append(nil)),
		"frame too large":          string(wire.Frame{First: 1, Rows: [][]byte{make([]byte, wire.MaxRow), make([]byte, wire.MaxRow)}}.Append(nil)),
	} {
		if got, err := wire.DecodeFrame([]byte(data)); !errors.Is(err, wire.ErrFrame) || got.Rows != nil {
			t.Errorf("%s: %+v, %v", name, got.First, err)
		}
	}
}

func TestTheLargestRowFitsAFrame(t *testing.T) {
	frame := wire.Frame{Generation: math.MaxUint64, First: math.MaxUint64 - 1, Rows: [][]byte{make([]byte, wire.MaxRow)}}
	if got, err := wire.DecodeFrame(frame.Append(nil)); err != nil || !reflect.DeepEqual(got, frame) {
		t.Errorf("%v", err)
	}
}

func TestRowsDoNotShareTheirSpareBytes(t *testing.T) {
	got, err := wire.DecodeFrame(wire.Frame{First: 1, Rows: [][]byte{[]byte("a"), []byte("b")}}.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	_ = append(got.Rows[0], "xx"...)
	if string(got.Rows[1]) != "b" {
		t.Errorf("second row is %q", got.Rows[1])
	}
}

func FuzzDecodeFrame(f *testing.F) {
	f.Add(wire.Frame{Generation: 1, First: 1, Rows: [][]byte{[]byte("row"), {}}}.Append(nil))
	f.Add([]byte("SYF1\x01\x01\x81\x20"))
	f.Add([]byte("SYF1\x80\x00\x01\x01\x00")) // a number spelled longer than it needs
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, err := wire.DecodeFrame(data)
		if err != nil {
			if !errors.Is(err, wire.ErrFrame) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		again, err := wire.DecodeFrame(frame.Append(nil))
		if err != nil || !reflect.DeepEqual(again, frame) || frame.Last() < frame.First {
			t.Fatalf("%+v became %+v, %v", frame, again, err)
		}
	})
}
