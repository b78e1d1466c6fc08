package scout

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// question is what scout understood of a message.
type question struct {
	text    string
	commits int      // how many to read
	since   string   // in git's words; "" for no limit
	names   []string // what may be a file, as written
	words   []string // what to search for
}

const (
	defaultCommits = 20
	maxCommits     = 200
	maxWords       = 3
	maxNames       = 4
	minWord        = 3
)

func parseQuestion(message string) question {
	// A mention is an address, not a part of the question.
	text := strings.TrimSpace(regexp.MustCompile(`(^|\s)@[\w.-]+`).ReplaceAllString(message, "$1"))
	q := question{text: text, commits: defaultCommits, since: sinceOf(text)}
	if m := regexp.MustCompile(`(?i)(\d{1,6})\s*(?:[a-z]+\s)?(?:commits?|changes|revisions|个提交|次提交|提交)`).FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			q.commits = min(max(n, 1), maxCommits)
		}
	}
	q.names = namesOf(text)
	q.words = wordsOf(text, q.names)
	return q
}

func (q question) quote() string {
	if q.text == "" {
		return "(nothing in particular)"
	}
	return "“" + strings.Join(strings.Fields(q.text), " ") + "”"
}

// sinceOf understands the commonest ways to name a span of time.
func sinceOf(text string) string {
	lower := strings.ToLower(text)
	if m := regexp.MustCompile(`(?:last|past|previous)\s+(\d{1,3})\s+(hour|day|week|month)s?`).FindStringSubmatch(lower); m != nil {
		return m[1] + " " + m[2] + "s ago"
	}
	spans := []struct{ phrase, since string }{
		{"today", "midnight"}, {"今天", "midnight"}, {"yesterday", "yesterday.midnight"}, {"昨天", "yesterday.midnight"},
		{"this week", "1 week ago"}, {"last week", "1 week ago"}, {"past week", "1 week ago"}, {"本周", "1 week ago"},
		{"this month", "1 month ago"}, {"last month", "1 month ago"}, {"past month", "1 month ago"},
	}
	for _, span := range spans {
		if strings.Contains(lower, span.phrase) {
			return span.since
		}
	}
	return ""
}

// namesOf returns what looks like a path or a file name.
func namesOf(text string) []string {
	found := regexp.MustCompile(`[\w.@+-]*(?:/[\w.@+-]+)+/?|[\w+-]+\.[A-Za-z][A-Za-z0-9]{0,7}\b|\b(?:Makefile|Dockerfile|LICENSE|NOTICE|README)\b`).FindAllString(text, -1)
	return limited(found, maxNames)
}

// wordsOf returns what is quoted, what follows a verb of searching, and what looks like a name in code.
func wordsOf(text string, names []string) []string {
	var found []string
	for _, m := range regexp.MustCompile("[\"“`]([^\"”`]{2,60})[\"”`]").FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	for _, m := range regexp.MustCompile(`(?i)\b(?:search(?: for)?|find|grep(?: for)?|where is|mentions? of|uses? of)\s+([\w.-]{3,60})`).FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	found = append(found, regexp.MustCompile(`\b(?:[a-z]+(?:_[a-z0-9]+)+|[a-z]+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{2,}_[A-Z_]+)\b`).FindAllString(text, -1)...)
	found = slices.DeleteFunc(found, func(word string) bool { return len(word) < minWord || slices.Contains(names, word) || filler(word) })
	return limited(found, maxWords)
}

// filler are words that follow "find" or "search" without being what is looked for.
func filler(word string) bool {
	return slices.Contains([]string{"the", "all", "any", "out", "for", "what", "where", "every", "some", "how", "who", "this", "that"}, strings.ToLower(word))
}

// limited returns the first n different values.
func limited(values []string, n int) []string {
	var out []string
	for _, v := range values {
		if !slices.Contains(out, v) && len(out) < n {
			out = append(out, v)
		}
	}
	return out
}
