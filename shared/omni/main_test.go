package omni_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

var update = flag.Bool("update", false, "write the golden files and the page of the protocol")

var at = time.Date(2026, 7, 18, 9, 30, 0, 250_000_000, time.FixedZone("", 2*3600))

// golden compares with a file of testdata, byte for byte.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
	}
}

func raw(value string) json.RawMessage { return json.RawMessage(value) }

// failer is a test, or a draw of one.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// made is a message that has to be right.
func made(t failer, p omni.Payload) omni.Message {
	t.Helper()
	m, err := omni.New(at, p)
	if err != nil {
		t.Fatalf("%T: %v", p, err)
	}
	asRead(t, m)
	return m
}

// asRead holds a message that was made to what is read from its bytes: where a message is put together, nothing parses it.
func asRead(t failer, made omni.Message) {
	t.Helper()
	read, err := omni.Decode(made.Bytes())
	if err != nil {
		t.Fatalf("%q was made and cannot be read: %v", made.Bytes(), err)
	}
	if !reflect.DeepEqual(read, made) {
		t.Fatalf("%q was made as %+v and is read as %+v", made.Bytes(), made, read)
	}
}

func read(t testing.TB, line string) omni.Message {
	t.Helper()
	m, err := omni.Decode([]byte(line))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return m
}
