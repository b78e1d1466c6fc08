package agentline

import (
	"slices"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// Kind is what a field may hold.
type Kind string

// Kinds of field.
const (
	Text    Kind = "text"
	Number  Kind = "whole number"
	Flag    Kind = "true or false"
	Object  Kind = "object"
	List    Kind = "list"
	Any     Kind = "any JSON"
	Content Kind = "file"    // a File
	Failed  Kind = "failure" // an event.ErrorObj
)

// Field is one field of a line.
type Field struct {
	Name    string
	Kind    Kind
	Needed  bool
	Meaning string
}

// Shape says what lines of one type hold. The schema and the pages for authors of agents are made from it.
type Shape struct {
	Type    Type // FactShape stands for all facts but reasoning
	Meaning string
	Fields  []Field
}

// FactShape is the Type of the Shape of facts, which have no single name.
const FactShape Type = factPrefix + "*"

// Shapes returns all lines: those of this runtime, then those that it shares with the bridge protocol.
func Shapes() []Shape { return slices.Concat(sayShapes(), turnShapes(), factShapes(), bridgeShapes()) }

// sayShapes are what an agent says, and the tools that it uses.
func sayShapes() []Shape {
	call := Field{"tool_call_id", Text, false, "pairs a result with its call; without it they pair by name"}
	return []Shape{
		{Delta, "The next piece of the answer.", []Field{
			{"content", Text, false, "the piece"},
			{"content_index", Number, false, "which block of content it belongs to, from 0"},
			{"last", Flag, false, "the message ends with this piece, which may be empty; the turn goes on with another message"},
			fidelityField("with `last`: of the message"), agentField(),
		}},
		{ToolCall, "A tool starts.", []Field{
			call, {"tool_name", Text, false, "name of the tool"}, {"tool_args", Any, false, "what it is called with"},
			{"intent", Text, false, "what it is for, in a person's words"}, targetField(), fidelityField("of the call"), agentField(),
		}},
		{ToolResult, "A tool ends.", []Field{
			call, {"tool_name", Text, false, "name of the tool"}, {"tool_result", Any, false, "what came out"},
			{"error", Failed, false, "why it failed, instead of a result"},
			{"images", List, false, "what came out as images: `data:MIME;base64,…` URLs"},
			{"metadata", Object, false, "how to show the result: `render_hint`, `language`, `file_path`"}, agentField(),
		}},
	}
}

// turnShapes are what an agent says of its turn, and hands out in it.
func turnShapes() []Shape {
	return []Shape{
		{Artifact, "A file for the person.", []Field{
			{"artifact", Content, true, "the file: its name, its type, and exactly one of path, content and content_base64"},
			{"tool_call_id", Text, false, "the call that made it"}, agentField(),
		}},
		{StateChange, "A move of the agent's own state machine.", []Field{
			{"state", Text, false, "the state, in the agent's words"},
		}},
		{SessionInit, "Names the session by which the agent can be resumed.", []Field{
			{"session_id", Text, true, "the name; the first one counts"},
			{"model", Text, false, "the model that answers in it"},
			{"provider", Text, false, "who serves the model"},
			{"model_context_window", Any, false, "how many tokens fit into its context: a whole number, or a name for that"},
			{"system_prompt", Text, false, "what the model is told before the conversation, with nothing left to fill in"},
			{"tools", List, false, "the tools as the model is told of them: objects with `name`, `description` and perhaps `parameters`, a JSON Schema"},
			{"agent_state", Text, false, "the path of what the agent keeps between its turns"},
		}},
		{Prompt, "Asks a person, and waits for the answer on stdin.", []Field{
			requestField(), {"kind", Text, false, "question, plan_review or step_decision"},
			{"inner", Object, false, "what is asked"},
			{"timeout_ms", Number, false, "how long it waits for an answer, then it is `timeout`; 0 for no limit"},
			agentField(),
		}},
		{Done, "The turn is done.", []Field{
			{"answer", Text, false, "the whole answer, used only if no piece of it was said before"},
		}},
		{Error, "The turn has failed.", []Field{
			{"error_code", Text, false, "a name for programs, such as rate_limit"},
			{"error_message", Text, false, "a sentence for people"},
			{"retryable", Flag, false, "whether asking again may help"},
			{"message", Text, false, "the sentence, as the bridge protocol has it"},
			sessionField(), usageField(),
		}},
	}
}

// factShapes are the facts with lines of their own, and all others.
func factShapes() []Shape {
	return []Shape{
		{Type(event.Thinking), "The next piece of the reasoning.", []Field{
			{"payload", Object, true, "the piece is its field delta"},
			{"content_index", Number, false, "which block of content it belongs to, from 0"},
			{"apart", Flag, false, "it stands by itself, a card of its own: it opens no message and is in none"},
			{"last", Flag, false, "this block of reasoning ends with the piece, which may be empty"},
			fidelityField("with `last`: of the reasoning"), agentField(),
		}},
		{Type(event.ToolInput), "The next piece of a call's arguments while the model writes them, before the `tool_call`.", []Field{
			{"payload", Object, true, "the piece is its field `partial_json`; `tool_call_id` and `tool_name` say of which call: it shows while it is written only with both"},
			{"content_index", Number, false, "which block of content it belongs to, from 0"}, agentField(),
		}},
		{Type(event.ToolOutput), "The next piece of what an open call puts out, before its `tool_result`.", []Field{
			{"payload", Object, true, "the piece is its field `delta`, its call `tool_call_id`; the pieces are the beginning of the result's text"},
			agentField(),
		}},
		{FactShape, "Any other fact about the run.", []Field{
			{"payload", Object, false, "whatever the fact is; some have a shape, below"},
		}},
		{Type(event.RunCheckpoint), "A point from which the agent could go on.", []Field{
			{"payload", Object, false, "whatever the agent needs for that"},
		}},
	}
}

func bridgeShapes() []Shape {
	return []Shape{
		{Partial, "The next piece of the answer or the reasoning, as the bridge protocol has it.", []Field{
			{"text", Text, false, "the piece"}, {"role", Text, false, "output or thinking"}, sessionField(),
		}},
		{Result, "The answer, as the bridge protocol has it; other lines may follow.", []Field{
			{"text", Text, false, "the whole answer, used only if no piece of it was said before"}, sessionField(), usageField(),
		}},
		{Permission, "Asks a person whether a tool may be used, as the bridge protocol has it.", []Field{
			requestField(), {"tool_name", Text, false, "name of the tool"}, {"input", Object, false, "what it is to be called with"},
			{"description", Text, false, "what it is for"}, {"tool_use_id", Text, false, "the model's own id of the call"}, sessionField(), agentField(),
		}},
	}
}

func requestField() Field {
	return Field{"request_id", Text, true, "unique within the turn; the answer names it"}
}

func targetField() Field {
	return Field{"target", Text, false, "`client` for a tool that a client carries out: its end comes on stdin"}
}

func fidelityField(whose string) Field {
	return Field{"fidelity", Object, false, whose + ": what the provider wants back, kept byte for byte up to 96 KiB"}
}

func agentField() Field {
	return Field{"agent_id", Text, false, "the sub-agent in which it happens"}
}

func sessionField() Field {
	return Field{"session_id", Text, false, "as in session_init"}
}

func usageField() Field {
	return Field{"usage", Object, false, "tokens and cost, kept as `run.agent.result`"}
}
