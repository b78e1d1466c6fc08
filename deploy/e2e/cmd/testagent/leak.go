package main

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// canaryPrefix begins the names of the variables whose values are told.
const canaryPrefix = "CANARY_"

// leak is an agent that tells everything it should keep to itself, in every spelling and in every place there is.
type leak struct {
	fails bool // it ends with an error and not with an answer
}

// spellings are the forms that a secret is told in, a canary after the other.
func spellings() []func(string) string {
	return []func(string) string{
		func(s string) string { return s },
		func(s string) string { return base64.StdEncoding.EncodeToString([]byte("dev:" + s)) },
		func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
		url.QueryEscape,
		func(s string) string { return strings.ToLower(url.PathEscape(s)) },
		func(s string) string { return hex.EncodeToString([]byte(s)) },
		func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
		quoted,
	}
}

// quoted is how a program writes s that keeps its JSON readable: it escapes what it has to.
func quoted(s string) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return s // a string is always JSON
	}
	return strings.Trim(out.String(), "\"\n")
}

// told are the canaries as they are told.
func told(env []string) (told []string) {
	slices.Sort(env)
	for _, setting := range env {
		name, value, _ := strings.Cut(setting, "=")
		if strings.HasPrefix(name, canaryPrefix) {
			told = append(told, spellings()[len(told)%len(spellings())](value))
		}
	}
	return told
}

// play tells everything, waits for the answer to a question that holds it, and ends.
func (l leak) play(answers *bufio.Reader, stdout, stderr io.Writer) error {
	told := told(os.Environ())
	out := agentline.NewWriter(stdout)
	for i, secret := range told {
		if err := tell(out, i, secret, stdout, stderr); err != nil {
			return err
		}
	}
	all := strings.Join(told, " ")
	out.Artifact("all.txt", "text/plain", []byte(all))
	out.Ask("1", event.PromptQuestion, event.Question{Question: "Is this it? " + all, Options: []event.Choice{{Label: "yes"}}}, 0)
	if _, err := answers.ReadBytes('\n'); err != nil {
		return fmt.Errorf("wait for the answer: %w", err)
	}
	if l.fails {
		out.Fail("leaked", "It was "+all, false)
	} else {
		out.Done("It was " + all)
	}
	return out.Err()
}

// tell tells one secret, in each place whole, and in two of them in three pieces.
func tell(out *agentline.Writer, i int, secret string, stdout, stderr io.Writer) error {
	pieces := []string{"a key in pieces ", secret[:len(secret)/3], secret[len(secret)/3 : len(secret)/2], secret[len(secret)/2:], " and on. "}
	out.Delta("a key " + secret + " and on. ")
	out.Think("hm, a key " + secret + " and on. ")
	for _, piece := range pieces {
		out.Delta(piece)
	}
	for _, piece := range pieces {
		out.Think(piece)
	}
	out.ToolCall(callID(2*i), toolName, map[string]any{"query": secret, secret: []string{"x", secret}})
	out.ToolResult(callID(2*i), toolName, map[string]any{"found": []any{map[string]string{"key": "is " + secret}}})
	out.ToolCall(callID(2*i+1), toolName, map[string]string{"query": "again"})
	out.ToolFailed(callID(2*i+1), toolName, event.ErrorObj{Code: "tool_failed", Message: "There is no " + secret + "."})
	out.Fact(event.SessionMetrics, map[string]string{"note": secret})
	if err := out.Err(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "this is no line of the protocol: %s\n", secret); err != nil {
		return err
	}
	for _, piece := range append(pieces, secret, "\n") {
		if _, err := io.WriteString(stderr, piece); err != nil {
			return err
		}
	}
	return nil
}
