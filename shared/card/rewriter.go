package card

import "strings"

const (
	maxLink = 1024 // bytes of a Markdown link that is waited for
	maxDots = 3    // at the end of a sentence
)

// Rewriter turns mentions of artifacts in one stream of text into Markdown links (S0 §12, facts 0.7): `[name](artifact://id)` for a name that is
// registered, and for the id of an artifact. It leaves alone what is in a link already, but for a link that leads to a name, and what stands
// beside one of A-Z a-z 0-9 _ . / -, where the dots that end a sentence do not count. Where names overlap, the one that begins first wins, of
// those the longest.
//
// What may still become a name or a link is held back, so that the result does not depend on how the text is cut into chunks (R10). The fields
// are what a checkpoint keeps: at most some 1 KiB.
type Rewriter struct {
	Held   string `json:"held,omitempty"`   // given to Write and not returned yet
	Beside bool   `json:"beside,omitempty"` // the text before Held ends with a character that no name stands beside
}

// Write takes the next chunk of the text and returns what is ready of it.
func (r *Rewriter) Write(names *Names, chunk string) string { return r.run(names, chunk, false) }

// Flush returns what is held back: the text has ended.
func (r *Rewriter) Flush(names *Names) string { return r.run(names, "", true) }

// verdict is what can be said of a place in a text.
type verdict uint8

const (
	no   verdict = iota
	yes          // it begins here
	wait         // that depends on what comes
)

func (r *Rewriter) run(names *Names, chunk string, ended bool) string {
	rest := r.Held + chunk
	if len(names.known) == 0 && r.Held == "" {
		r.pass(rest)
		return rest
	}
	var out strings.Builder
	for rest != "" {
		used, as, v := names.at(rest, r.Beside, ended)
		if v == wait {
			break
		}
		out.WriteString(as)
		r.pass(rest[:used])
		rest = rest[used:]
	}
	r.Held = rest
	return out.String()
}

func (r *Rewriter) pass(text string) {
	if text != "" {
		r.Beside = besides(text[len(text)-1])
	}
}

// at reads what text begins with: so many bytes, and what they become. wait says that more text is needed to tell.
func (n *Names) at(text string, beside, ended bool) (used int, as string, v verdict) {
	if text[0] == '[' {
		if used, as, v = n.link(text, ended); v != no {
			return used, as, v
		}
	}
	if !beside {
		if t, v := n.mention(text, ended); v != no {
			return len(t.text), t.link, v
		}
	}
	return 1, text[:1], yes
}

// mention says which name text begins with.
func (n *Names) mention(text string, ended bool) (term, verdict) {
	for _, t := range n.starting(text[0]) {
		switch {
		case strings.HasPrefix(text, t.text):
			if v := free(text[len(t.text):], ended); v != no {
				return t, v
			}
		case !ended && strings.HasPrefix(t.text, text):
			return t, wait
		}
	}
	return term{}, no
}

// besides says whether a name that stands beside c is part of something longer: a path, a word, another name.
func besides(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '/' || c == '-'
}

// free says whether what follows a name leaves it alone. Some dots with nothing of the kind behind them end a sentence.
func free(after string, ended bool) verdict {
	dots := 0
	for dots < len(after) && after[dots] == '.' && dots <= maxDots {
		dots++
	}
	switch {
	case dots > maxDots:
		return no
	case dots < len(after) && besides(after[dots]):
		return no
	case dots == len(after) && !ended:
		return wait
	}
	return yes
}

// link reads a Markdown link `[text](destination)`, which stays as it is unless it leads to a name.
func (n *Names) link(text string, ended bool) (used int, as string, v verdict) {
	label, v := enclosed(text, '[', ']', ended)
	if v != yes {
		return 0, "", v
	}
	if label == len(text) {
		return 0, "", pending(ended)
	}
	if text[label] != '(' {
		return 0, "", no
	}
	size, v := enclosed(text[label:], '(', ')', ended)
	if v != yes {
		return 0, "", v
	}
	used = label + size
	if uri := n.meaning(text[label+1 : used-1]); uri != "" {
		return used, text[:label+1] + uri + ")", yes
	}
	return used, text[:used], yes
}

// enclosed returns the size of what stands between a bracket, which text begins with, and the one that belongs to it, both included. It is on
// one line and not long.
func enclosed(text string, open, end byte, ended bool) (int, verdict) {
	depth := 0
	for i := range min(len(text), maxLink) {
		switch text[i] {
		case open:
			depth++
		case end:
			depth--
		case '\n':
			return 0, no
		}
		if depth == 0 {
			return i + 1, yes
		}
	}
	if len(text) >= maxLink {
		return 0, no
	}
	return 0, pending(ended)
}

func pending(ended bool) verdict {
	if ended {
		return no
	}
	return wait
}
