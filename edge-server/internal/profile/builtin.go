package profile

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Agents that ship inside the edge, as `edge-server builtin NAME`.
const (
	Scout = "scout"
	Chat  = "chat"
)

// Executors are the names that `executor` knows. They run as processes of their own, from the edge's own program.
func Executors() []string { return []string{Scout, Chat} }

// controlsOf is what an agent that ships inside the edge can be told while it works.
func controlsOf(executor string) []string {
	switch executor {
	case Scout:
		return []string{string(wire.ControlSteer)}
	case Chat:
		return wire.Controls()
	}
	return nil
}

// Variables of the edge that configure chat.
const (
	// Endpoint of chat, with /v1. Default: OpenAI's.
	ChatBaseURL = "OPENAI_BASE_URL"
	// Key for the endpoint of chat. Not needed if OPENAI_BASE_URL names an endpoint that needs none.
	ChatKey = "OPENAI_API_KEY"
	// Model that chat uses. Without it, chat is not offered.
	ChatModel = "OPENAI_MODEL"
)

// builtins returns the profiles that need no file. chat is among them only if the edge's environment names a model to talk to.
func builtins(lookup func(string) (string, bool)) []Profile {
	scout := named(Scout, "")
	scout.Runtime, scout.Executor = Events, Scout
	scout.Timeout = 10 * time.Minute
	scout.Controls = controlsOf(Scout)
	scout.Description = "Reads the git history and the files of its workspace, answers and writes a report. Needs no key and no network."
	if _, missing := chatMissing(lookup); missing {
		return []Profile{scout}
	}
	chat := named(Chat, "")
	chat.Runtime, chat.Executor = Events, Chat
	chat.Controls = controlsOf(Chat)
	chat.Description = "Talks to any endpoint that speaks the OpenAI chat protocol."
	chat.Env = map[string]string{ChatBaseURL: "${" + ChatBaseURL + "}", ChatKey: "${" + ChatKey + "}", ChatModel: "${" + ChatModel + "}"}
	chat.PublicEnv = []string{ChatBaseURL, ChatModel}
	return []Profile{scout, chat}
}

// chatMissing says what keeps chat from being offered: a model has no default, and there must be a key or an endpoint that needs none.
func chatMissing(lookup func(string) (string, bool)) (sentence string, missing bool) {
	given := func(name string) bool {
		value, _ := lookup(name)
		return value != ""
	}
	switch {
	case !given(ChatModel):
		return "Set " + ChatModel + " to offer the chat agent.", true
	case !given(ChatKey) && !given(ChatBaseURL):
		return "Set " + ChatKey + ", or " + ChatBaseURL + " of an endpoint that needs no key, to offer the chat agent.", true
	}
	return "", false
}
