package doctest

import (
	"regexp"
	"slices"
	"strings"
)

// Mention is a name that a document uses and that has to exist.
type Mention struct {
	Path string
	Line int
	Name string
}

var settingPattern = regexp.MustCompile(`\b(?:HUB|EDGE|YARD)_[A-Z][A-Z0-9_]*[A-Z0-9]\b`)

// Targets yields the make targets that d tells its reader to use.
func Targets(d Document) []Mention {
	return d.collect(func(command []string) []string {
		if len(command) > 1 && command[0] == "make" && regexp.MustCompile(`^[a-z]+$`).MatchString(command[1]) {
			return command[1:2]
		}
		return nil
	})
}

// Commands yields the commands of a program, such as yard, that d tells its reader to use, of one word or two.
func Commands(d Document, program string) []Mention {
	return d.collect(func(command []string) []string {
		if len(command) == 0 || strings.TrimPrefix(command[0], "bin/") != program {
			return nil
		}
		var words []string
		for i := 1; i < len(command) && len(words) < 2; i++ {
			word := command[i]
			switch {
			case strings.HasPrefix(word, "--"):
				if !strings.Contains(word, "=") && !slices.Contains([]string{"--json", "--help", "--check", "--version"}, word) {
					i++ // its value
				}
				if len(words) > 0 {
					i = len(command) // flags after the command: what follows are its arguments
				}
			case regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(word):
				words = append(words, word)
			default:
				i = len(command)
			}
		}
		if len(words) == 0 {
			return nil
		}
		return []string{strings.Join(words, " ")}
	})
}

// Settings yields the environment variables that d names.
func Settings(d Document) []Mention {
	return d.collect(func(command []string) []string {
		return settingPattern.FindAllString(strings.Join(command, " "), -1)
	})
}

var metricPattern = regexp.MustCompile(`\bswitchyard_(?:hub|edge)_([a-z][a-z0-9_]*[a-z0-9])\b`)

// Metrics yields the metrics that d names, without the program's prefix.
func Metrics(d Document) []Mention {
	return d.collect(func(command []string) []string {
		var names []string
		for _, found := range metricPattern.FindAllStringSubmatch(strings.Join(command, " "), -1) {
			names = append(names, found[1])
		}
		return names
	})
}

// collect applies names to every line of code in d, split into words and without a prompt or a comment.
func (d Document) collect(names func(command []string) []string) []Mention {
	var mentions []Mention
	add := func(line int, code string) {
		code, _, _ = strings.Cut(code, " #")
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(code), "$ "))
		for _, name := range names(words) {
			mentions = append(mentions, Mention{Path: d.Path, Line: line, Name: name})
		}
	}
	for _, span := range d.Spans {
		add(span.Line, span.Code)
	}
	for _, block := range d.Blocks {
		for i, line := range strings.Split(block.Code, "\n") {
			add(block.Line+1+i, line)
		}
	}
	return mentions
}
