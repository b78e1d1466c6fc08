package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestToolsOfAClientAreHeldToTheirBounds(t *testing.T) {
	many := func(n, schema int) (all []wire.ClientTool) {
		for i := range n {
			all = append(all, wire.ClientTool{Name: fmt.Sprintf("t%d", i), InputSchema: json.RawMessage(`{"d":"` + strings.Repeat("x", schema) + `"}`)})
		}
		return all
	}
	one := func(change func(*wire.ClientTool)) []wire.ClientTool {
		tool := wire.ClientTool{Name: "open_url", Description: "Opens a page.", InputSchema: json.RawMessage(` {"type":"object"}`), TimeoutMS: 1}
		change(&tool)
		return []wire.ClientTool{tool}
	}
	for name, tc := range map[string]struct {
		tools []wire.ClientTool
		want  fault.Code // "" for good ones
	}{
		"none":                {nil, ""},
		"one":                 {one(func(*wire.ClientTool) {}), ""},
		"a bare one":          {[]wire.ClientTool{{Name: "a-B_9"}}, ""},
		"as many as may be":   {many(wire.MaxClientTools, 100), ""},
		"one more":            {many(wire.MaxClientTools+1, 100), fault.TooLarge},
		"too much together":   {many(8, 10<<10), fault.TooLarge},
		"twice the same":      {append(many(1, 1), many(1, 1)...), fault.InvalidRequest},
		"no name":             {one(func(t *wire.ClientTool) { t.Name = "" }), fault.InvalidRequest},
		"a name with a space": {one(func(t *wire.ClientTool) { t.Name = "open url" }), fault.InvalidRequest},
		"a name with a line":  {one(func(t *wire.ClientTool) { t.Name = "open\n" }), fault.InvalidRequest},
		"a long name":         {one(func(t *wire.ClientTool) { t.Name = strings.Repeat("a", 65) }), fault.InvalidRequest},
		"a long description":  {one(func(t *wire.ClientTool) { t.Description = strings.Repeat("a", 4<<10+1) }), fault.TooLarge},
		"a schema of text":    {one(func(t *wire.ClientTool) { t.InputSchema = json.RawMessage(`"object"`) }), fault.InvalidRequest},
		"a broken schema":     {one(func(t *wire.ClientTool) { t.InputSchema = json.RawMessage(`{"type":`) }), fault.InvalidRequest},
		"a deep schema": {one(func(t *wire.ClientTool) {
			t.InputSchema = json.RawMessage(strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat(`}`, 40))
		}), fault.InvalidRequest},
		"a large schema":  {many(1, 16<<10), fault.TooLarge},
		"a negative wait": {one(func(t *wire.ClientTool) { t.TimeoutMS = -1 }), fault.InvalidRequest},
		"a day":           {one(func(t *wire.ClientTool) { t.TimeoutMS = 24 * 3600 * 1000 }), ""},
		"more than a day": {one(func(t *wire.ClientTool) { t.TimeoutMS = 24*3600*1000 + 1 }), fault.InvalidRequest},
	} {
		if got := fault.CodeOf(wire.CheckClientTools(tc.tools)); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// What the hub has let pass the edge takes, though a command is written with more bytes than that.
func TestWhatIsCheckedOnceIsTakenAfterItsCommand(t *testing.T) {
	grows := strings.Repeat("<", 40<<10) // each is six bytes in a command
	response, err := event.Encode(event.ClientToolResponse{Status: event.ClientToolOK, Output: json.RawMessage(`"` + grows + `"`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := event.CheckResponse(event.PromptClientTool, nil, event.Allow, response); err != nil {
		t.Fatal(err)
	}
	answer := commanded(t, wire.Answer{Kind: event.PromptClientTool, Decision: event.Allow, Response: response})
	if err := answer.Check(); err != nil || len(answer.Response) <= wire.MaxResponse {
		t.Errorf("%d bytes: %v", len(answer.Response), err)
	}
	if answer.Kind = ""; answer.Check() == nil {
		t.Error("an answer of a person may be as large")
	}
	if err := (event.ClientToolResponse{Status: event.ClientToolOK, Output: json.RawMessage(`"` + grows + grows + `"`)}).Check(); err == nil {
		t.Error("more than a command holds is taken")
	}

	tools := []wire.ClientTool{{Name: "a", InputSchema: json.RawMessage(`{"d": "` + strings.Repeat("<", 2<<10) + `"}`)}}
	if err := wire.CheckClientTools(tools); err != nil {
		t.Fatal(err)
	}
	if err := wire.CheckClientTools(commanded(t, wire.Dispatch{ClientTools: tools}).ClientTools); err != nil {
		t.Error(err)
	}
	tools[0].InputSchema = json.RawMessage(`{"d":"` + strings.Repeat("<", 4<<10) + `"}`)
	if wire.CheckClientTools(tools) == nil {
		t.Error("a schema is taken that is too large in a command")
	}
}

// commanded is a body as it arrives with its command.
func commanded[B any](t *testing.T, body B) (arrived B) {
	t.Helper()
	written, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(written, &arrived); err != nil {
		t.Fatal(err)
	}
	return arrived
}
