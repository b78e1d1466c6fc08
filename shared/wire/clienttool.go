package wire

import (
	"encoding/json"
	"regexp"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// ClientTool is a tool that a client of the conversation carries out for the agent (S0 §9.2 session.create). Its json is the agent's too.
type ClientTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"` // a JSON Schema of an object; none takes any object
	TimeoutMS   int64           `json:"timeout_ms,omitempty"`   // how long a call waits for the client; 0: as long as a tool card does
}

// Bounds of client tools, in bytes but for the first. All of them go into each start command and each turn line.
const (
	MaxClientTools           = 32
	MaxClientToolDescription = 4 << 10
	MaxClientToolSchema      = 16 << 10 // as json.Marshal writes it
	MaxClientToolBytes       = 64 << 10 // of all of them together, as JSON
)

// MaxClientToolWait is the longest timeout_ms that a tool may have.
const MaxClientToolWait = 24 * time.Hour

var clientToolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// CheckClientTools says what is wrong with the tools of a client, as a fault for the one who declares them.
func CheckClientTools(all []ClientTool) error {
	if len(all) > MaxClientTools {
		return fault.New(fault.TooLarge, "A client declares at most %d tools.", MaxClientTools)
	}
	names := map[string]bool{}
	for i, tool := range all {
		if err := tool.check(); err != nil {
			return fault.Wrap(err, fault.CodeOf(err), "Tool %d: %s", i+1, fault.Public(err).Detail)
		}
		if names[tool.Name] {
			return fault.New(fault.InvalidRequest, "Tool %d: another one has its name.", i+1)
		}
		names[tool.Name] = true
	}
	if encoded, err := json.Marshal(all); err != nil || len(encoded) > MaxClientToolBytes {
		return fault.Wrap(err, fault.TooLarge, "The tools of a client have at most %d bytes together.", MaxClientToolBytes)
	}
	return nil
}

func (t ClientTool) check() error {
	switch {
	case !clientToolName.MatchString(t.Name):
		return fault.New(fault.InvalidRequest, "its name has 1 to 64 letters, digits, _ and -.")
	case len(t.Description) > MaxClientToolDescription:
		return fault.New(fault.TooLarge, "its description has more than %d bytes.", MaxClientToolDescription)
	case t.TimeoutMS < 0 || t.TimeoutMS > MaxClientToolWait.Milliseconds():
		return fault.New(fault.InvalidRequest, "its timeout_ms is 0 to %d.", MaxClientToolWait.Milliseconds())
	}
	if len(t.InputSchema) == 0 {
		return nil
	}
	schema, err := json.Marshal(t.InputSchema) // as it is in a command
	if err != nil {
		schema = t.InputSchema // which is no JSON
	}
	if err := checkObject("input_schema", schema, MaxClientToolSchema); err != nil {
		return fault.Wrap(err, fault.CodeOf(err), "its input_schema is a JSON Schema of an object, of at most %d bytes.", MaxClientToolSchema)
	}
	return nil
}
