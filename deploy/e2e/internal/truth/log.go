package truth

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/contentchain"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Entry is one event of a run's log, by its stored name.
type Entry struct {
	Seq     int64
	Type    event.Type
	Payload json.RawMessage
}

// content is every field that an agent's own words can be in.
type content struct {
	Delta          string          `json:"delta"`
	ToolName       string          `json:"tool_name"`
	Arguments      json.RawMessage `json:"arguments"`
	ArgumentsBlob  *event.BlobRef  `json:"arguments_blob"`
	ResultChecksum string          `json:"result_checksum"`
	Checksum       string          `json:"checksum"`
	Error          event.ErrorObj  `json:"error"`
}

// heard returns what the log holds of the agent's words.
func heard(log []Entry, open contentchain.OpenBlob) ([]spoken, error) {
	if err := dense(log); err != nil {
		return nil, err
	}
	var all []spoken
	for _, e := range log {
		s, err := e.spoken(open)
		if err != nil {
			return nil, fmt.Errorf("event %d, %s: %w", e.Seq, e.Type, err)
		}
		all = append(all, s)
	}
	return joined(all), nil
}

// dense says whether the log is numbered from 1 without holes.
func dense(log []Entry) error {
	for i, e := range log {
		if e.Seq != int64(i+1) {
			return fmt.Errorf("event %d of the log has number %d", i+1, e.Seq)
		}
	}
	return nil
}

// spoken returns what e holds of the agent's words; the zero value if nothing.
func (e Entry) spoken(open contentchain.OpenBlob) (spoken, error) {
	var p content
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return spoken{}, err
	}
	switch e.Type {
	case event.MessageDelta:
		return spoken{kind: Text, text: p.Delta}, nil
	case event.Thinking:
		return spoken{kind: Thought, text: p.Delta}, nil
	case event.ToolStarted:
		args, err := p.arguments(open)
		return spoken{kind: Call, text: p.ToolName, sum: sum(args, noArguments)}, err
	case event.ToolCompleted:
		return spoken{kind: Result, sum: p.ResultChecksum}, nil
	case event.ToolFailed:
		return spoken{kind: Failure, text: p.Error.Message, sum: string(p.Error.Code)}, nil
	case event.ArtifactCreated:
		return spoken{kind: Artifact, text: p.Checksum}, nil
	}
	return spoken{}, nil
}

func (c content) arguments(open contentchain.OpenBlob) (json.RawMessage, error) {
	if c.ArgumentsBlob == nil {
		return c.Arguments, nil
	}
	if open == nil {
		return nil, errors.New("the arguments are in a blob that nobody can read here")
	}
	return open(*c.ArgumentsBlob)
}

// withoutClosings leaves out what the system ends by itself when an agent is gone: tools that were open.
func withoutClosings(all []spoken) []spoken {
	for n := len(all) - 1; n >= 0 && all[n].kind == Failure && all[n].sum == string(fault.RunEnded); n-- {
		all = all[:n]
	}
	return all
}

func chainOfLog(log []Entry, open contentchain.OpenBlob) (contentchain.Head, error) {
	var c contentchain.Chain
	for _, e := range log {
		if err := c.Event(e.Type, e.Payload, open); err != nil {
			return contentchain.Head{}, err
		}
	}
	return c.Head(), nil
}

// reported returns the chain that the agent itself told, as the log holds it.
func reported(log []Entry) (contentchain.Head, bool) {
	for _, e := range log {
		if e.Type == event.SessionMetrics {
			if head, ok := contentchain.Reported(e.Payload); ok {
				return head, true
			}
		}
	}
	return contentchain.Head{}, false
}
