package backup

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// write makes a backup of one table.
func write(tb rapid.TB, columns []string, rows [][]any) []byte {
	tb.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, Header{Schema: 7, Epoch: "0123456789abcdef", MadeAt: time.Unix(1, 0).UTC()})
	if err == nil {
		err = w.Table(Table{Name: "things", Columns: columns})
	}
	for _, row := range rows {
		if err == nil {
			err = w.Row(row)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// read returns the rows of a backup.
func read(data []byte) (Header, [][]any, error) {
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		return Header{}, nil, err
	}
	var rows [][]any
	for {
		part, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Header, rows, nil
		}
		if err != nil {
			return r.Header, rows, err
		}
		if part.Row != nil {
			rows = append(rows, part.Row)
		}
	}
}

func TestEveryValueComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Custom(func(t *rapid.T) any {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				return nil
			case 1:
				return rapid.Int64().Draw(t, "number")
			case 2:
				return rapid.Bool().Draw(t, "bool")
			case 3:
				return string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
			}
			return append([]byte{}, rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")...)
		})
		var rows [][]any
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			rows = append(rows, []any{value.Draw(t, "a"), value.Draw(t, "b")})
		}
		header, got, err := read(write(t, []string{"a", "b"}, rows))
		if err != nil || !reflect.DeepEqual(got, rows) {
			t.Fatalf("%#v came back as %#v, %v", rows, got, err)
		}
		if header.Format != Format || header.Schema != 7 || header.Epoch != "0123456789abcdef" || !header.MadeAt.Equal(time.Unix(1, 0)) {
			t.Fatalf("header %+v", header)
		}
	})
}

func TestADamagedBackupIsFound(t *testing.T) {
	good := write(t, []string{"a"}, [][]any{{"one"}, {"two"}, {int64(3)}})
	if _, err := Verify(bytes.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	for length := range good {
		if _, err := Verify(bytes.NewReader(good[:length])); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut off after %d of %d bytes: %v", length, len(good), err)
		}
	}
	lines := unzip(t, good)
	for name, changed := range map[string]string{
		"a changed value":  strings.Replace(lines, "two", "tWo", 1),
		"a missing row":    strings.Replace(lines, "[\"two\"]\n", "", 1),
		"rows exchanged":   strings.Replace(lines, "[\"one\"]\n[\"two\"]", "[\"two\"]\n[\"one\"]", 1),
		"another header":   strings.Replace(lines, `"schema":7`, `"schema":6`, 1),
		"something behind": lines + "[\"four\"]\n",
		"no table":         strings.Replace(lines, `{"table":"things","columns":["a"]}`+"\n", "", 1),
	} {
		if changed == lines {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := Verify(bytes.NewReader(zip(changed))); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestABackupOfANewerProgramIsRefused(t *testing.T) {
	lines := unzip(t, write(t, []string{"a"}, nil))
	newer := strings.Replace(lines, `"format":1`, `"format":2`, 1)
	if _, err := Verify(bytes.NewReader(zip(newer))); !errors.Is(err, ErrNewer) {
		t.Errorf("got %v, want ErrNewer", err)
	}
}

func TestNamesThatCouldBeStatementsAreRefused(t *testing.T) {
	w, err := NewWriter(io.Discard, Header{Schema: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []Table{{Name: `users"; --`, Columns: []string{"id"}}, {Name: "users", Columns: []string{"id, x"}}, {Name: "users"}} {
		if err := w.Table(table); err == nil {
			t.Errorf("%+v was taken", table)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(unzip(f, write(f, []string{"a", "b"}, [][]any{{"x", []byte{0, 1}}, {nil, true}, {int64(-1), "\xff"}})))
	f.Add(`{"format":1,"schema":7}` + "\n" + `{"table":"t","columns":["a"]}` + "\n" + `[{"bytes":"AA=="}]` + "\n" + `{"rows":1,"sha256":""}`)
	f.Fuzz(func(t *testing.T, lines string) {
		header, rows, err := read(zip(lines))
		if err == nil && (header.Schema <= 0 || len(rows) > strings.Count(lines, "\n")) {
			t.Fatalf("%q was read as %+v, %v", lines, header, rows)
		}
	})
}

func unzip(tb testing.TB, data []byte) string {
	tb.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	lines, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return string(lines)
}

func zip(lines string) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write([]byte(lines)) //nolint:errcheck // into memory
	z.Close()              //nolint:errcheck // into memory
	return out.Bytes()
}
