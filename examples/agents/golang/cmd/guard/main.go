// Command guard is a bridge agent with the package switchyard: it asks before it writes and before it deletes, both at once, and does what it
// may.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	switchyard "github.com/switchyard-dev/switchyard/examples/agents/golang"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
		os.Exit(1)
	}
}

// file is the input of both tools.
type file struct {
	Path string `json:"path"`
	Text string `json:"text,omitempty"`
}

func run(in io.Reader, out io.Writer) error {
	turn, err := switchyard.ReadTurn(in, out)
	if err != nil {
		return err
	}
	turn.Thinking("Two things to do; I ask for both.")
	note, old := file{"note.txt", turn.Message}, file{Path: "old-note.txt"}
	answers := turn.RequestPermissions(
		switchyard.Request{Tool: "Write", Input: note, Description: "Keeps the message as a note."},
		switchyard.Request{Tool: "Delete", Input: old},
	)
	turn.Partial(perform(answers[0], note, "Wrote", func(f file) error { return os.WriteFile(f.Path, []byte(f.Text), 0o600) }) + " ")
	turn.Partial(perform(answers[1], old, "Deleted", func(f file) error { return ignoreMissing(os.Remove(f.Path)) }))
	turn.Result("")
	return turn.Err()
}

// perform does what was allowed, with the input that the person saw last, and says what came of it.
func perform(p switchyard.Permission, f file, did string, tool func(file) error) string {
	if !p.Allowed {
		return did + " nothing. " + p.Message
	}
	if p.Updated != nil {
		if err := json.Unmarshal(p.Updated, &f); err != nil {
			return did + " nothing: the changed input cannot be read."
		}
	}
	if err := tool(f); err != nil {
		return fmt.Sprintf("%s nothing: %v.", did, err)
	}
	return fmt.Sprintf("%s %s.", did, f.Path)
}

func ignoreMissing(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}
