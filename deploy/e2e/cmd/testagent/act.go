package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"
)

// longLine is how many bytes the act "longline" prints without a line end.
const longLine = 50 << 20

// misbehave plays an agent that keeps no rule.
func misbehave(ctx context.Context, act string, stdout io.Writer) error {
	switch act {
	case "exit":
		return fmt.Errorf("this agent ends before it says anything")
	case "garbage":
		return garbage(stdout)
	case "longline":
		return longline(stdout)
	case "forever":
		<-ctx.Done()
		return ctx.Err()
	case "stubborn":
		return stubborn(stdout)
	}
	return fmt.Errorf("unknown act %q", act)
}

// garbage prints what is no line of the protocol, then one that is, and ends well.
func garbage(stdout io.Writer) error {
	_, err := stdout.Write([]byte("hello\n{\"type\":\n[1,2]\n\xff\xfe\x00\n{\"type\":\"unheard-of\"}\n" +
		`{"type":"delta","content":"still here"}` + "\n" + `{"type":"done"}` + "\n"))
	return err
}

// longline prints one line of 50 MiB, then goes on as if nothing had been.
func longline(stdout io.Writer) error {
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range longLine / len(chunk) {
		if _, err := stdout.Write(chunk); err != nil {
			return err
		}
	}
	_, err := stdout.Write([]byte("\n" + `{"type":"delta","content":"still here"}` + "\n" + `{"type":"done"}` + "\n"))
	return err
}

// stubborn talks for ever and ignores the signals that main has taken over: only SIGKILL ends it.
func stubborn(stdout io.Writer) error {
	for tick := time.NewTicker(100 * time.Millisecond); ; <-tick.C {
		if _, err := stdout.Write([]byte(`{"type":"delta","content":"on and on "}` + "\n")); err != nil {
			return err
		}
	}
}
