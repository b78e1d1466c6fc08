package card

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

const (
	artifactScheme = "artifact://"
	artifactPrefix = "art_"

	minName  = 3   // bytes: shorter names are words of every text
	maxName  = 255 // bytes, as of a file name
	maxNames = 512 // of a trace: the newest
)

// Names knows which artifact a name means (facts 0.7). It is shared by all agents of a trace. The zero value knows none. Its JSON is what a
// checkpoint keeps of it.
type Names struct {
	known []named // oldest first
	terms map[byte][]term
}

type named struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

// term is what becomes a link in a text.
type term struct{ text, link string }

// Register makes a name mean an artifact: the latest one of that name wins. What is too short or too long for a name is not looked for in texts.
func (n *Names) Register(name, artifact string) {
	if artifact == "" || len(name) < minName || len(name) > maxName || strings.ContainsAny(name, "\r\n") {
		return
	}
	n.known = slices.DeleteFunc(n.known, func(old named) bool { return old.Name == name })
	n.known = append(n.known, named{Name: name, ID: artifact})
	if len(n.known) > maxNames {
		n.known = slices.Delete(n.known, 0, len(n.known)-maxNames)
	}
	n.terms = nil
}

// Learn registers the artifacts that a payload of a card names.
func (n *Names) Learn(payload any) {
	switch p := payload.(type) {
	case ArtifactPayload:
		n.Register(p.Name, p.ArtifactID)
	case ToolPayload:
		n.learn(p.Artifacts)
	case AgentPayload:
		n.learn(p.Artifacts)
	case StepPayload:
		n.learn(p.Artifacts)
	}
}

func (n *Names) learn(refs []ArtifactRef) {
	for _, ref := range refs {
		n.Register(ref.Name, ref.ArtifactID)
	}
}

// ID is the artifact that a name means, "" for none.
func (n *Names) ID(name string) string {
	for _, k := range n.known {
		if k.Name == name {
			return k.ID
		}
	}
	return ""
}

// MarshalJSON writes what a checkpoint keeps.
func (n Names) MarshalJSON() ([]byte, error) { return json.Marshal(n.known) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Names) UnmarshalJSON(state []byte) error {
	n.terms = nil
	return json.Unmarshal(state, &n.known)
}

// starting returns the terms that begin with a byte, the longest first.
func (n *Names) starting(first byte) []term {
	if n.terms == nil {
		n.terms = n.index()
	}
	return n.terms[first]
}

// index has the names, and the ids of artifacts: people read the latest name of each.
func (n *Names) index() map[byte][]term {
	links := map[string]string{} // by term
	for _, k := range n.known {
		link := "[" + bracketEscape.Replace(k.Name) + "](" + artifactScheme + k.ID + ")"
		links[k.Name] = link
		if strings.HasPrefix(k.ID, artifactPrefix) {
			links[k.ID] = link
		}
	}
	terms := map[byte][]term{}
	for text, link := range links {
		terms[text[0]] = append(terms[text[0]], term{text, link})
	}
	for _, same := range terms {
		slices.SortFunc(same, func(a, b term) int { return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.text, b.text)) })
	}
	return terms
}

var bracketEscape = strings.NewReplacer(`[`, `\[`, `]`, `\]`, `\`, `\\`)

// meaning returns the uri of the artifact that a whole text is the name or the id of; "" if it is none.
func (n *Names) meaning(text string) string {
	if text == "" {
		return ""
	}
	for _, t := range n.starting(text[0]) {
		if t.text == text {
			return t.link[strings.LastIndexByte(t.link, '(')+1 : len(t.link)-1]
		}
	}
	return ""
}
