package chat

import (
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/id"
)

const mentionChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// mentionedNames returns what stands behind each @ of the text, in order, each once. An @ inside a word is no mention (`a@b.c`).
// Punctuation at a name's end could belong to it or to the sentence: both readings are returned, the longer first.
func mentionedNames(text string) []string {
	var names []string
	for rest := text; ; {
		before, after, found := strings.Cut(rest, "@")
		if !found {
			return names
		}
		rest = after
		if before != "" && strings.ContainsRune(mentionChars, rune(before[len(before)-1])) {
			continue
		}
		for _, name := range readings(after) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
}

// readings returns the name that text begins with, and the same without punctuation at its end.
func readings(text string) []string {
	name := text
	if end := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune(mentionChars, r) }); end >= 0 {
		name = text[:end]
	}
	switch bare := strings.TrimRight(name, "._-"); bare {
	case "":
		return nil
	case name:
		return []string{name}
	default:
		return []string{name, bare}
	}
}

// agentsNamed returns the agents of the conversation that the text mentions.
func agentsNamed(text string, members []Member) []id.Agent {
	var found []id.Agent
	for _, name := range mentionedNames(text) {
		for _, m := range members {
			if agent, ok := m.ID.Agent(); ok && m.Name == name && !slices.Contains(found, agent) {
				found = append(found, agent)
			}
		}
	}
	return found
}

// promptOf is what an agent is told: the text without the names of agents that it begins with.
func promptOf(text string, members []Member) string {
	for {
		text = strings.TrimSpace(text)
		rest, ok := strings.CutPrefix(text, "@")
		if !ok {
			return text
		}
		i := slices.IndexFunc(readings(rest), func(name string) bool {
			return slices.ContainsFunc(members, func(m Member) bool { return m.ID.Type() == AgentMember && m.Name == name })
		})
		if i < 0 {
			return text
		}
		text = strings.TrimLeft(strings.TrimPrefix(rest, readings(rest)[i]), ",:;")
	}
}
