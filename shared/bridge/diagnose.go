package bridge

import (
	"errors"
	"fmt"
	"regexp"
)

// reasonOf returns the reason of an error of ParseLine.
func reasonOf(err error) Reason {
	var ignored *IgnoredError
	if errors.As(err, &ignored) {
		return ignored.Reason
	}
	return ReasonNotJSON
}

// maxStderr is how much of stderr is searched, from its end, in bytes.
const maxStderr = 64 << 10

// diagnose turns a silent failure into a sentence: the first of four rules that fits stderr, else a general one.
func diagnose(exit Exit) string {
	stderr := exit.Stderr[max(0, len(exit.Stderr)-maxStderr):]
	for _, rule := range diagnoses() {
		if m := rule.pattern.FindStringSubmatch(stderr); m != nil {
			return rule.sentence(m)
		}
	}
	return fmt.Sprintf("The agent ended with exit code %d and did not say why; what it wrote to stderr may tell more.", exit.Code)
}

type diagnosis struct {
	pattern  *regexp.Regexp
	sentence func(match []string) string
}

// diagnoses are in order: the specific ones first. Compiling on use is fine for something that happens once per broken run.
func diagnoses() []diagnosis {
	return []diagnosis{
		{regexp.MustCompile(`(?:can't|cant|cannot) open file '([^']+)': \[Errno 2\] No such file or directory`), missingScript},
		{regexp.MustCompile(`Cannot find module '([^']+)'`), missingScript},
		{regexp.MustCompile(`(?m)^(?:[^:\n]+: line \d+|(?:[^:\n]*/)?(?:ba|da|k|z)?sh): (?:\d+: )?(?:cannot open )?([^:\n]+): No such file`), missingScript},
		{regexp.MustCompile(`(?i)errno 2|enoent|no such file or directory`), func([]string) string {
			return "The agent could not find a file that it needs. Check command, args and cwd of its profile."
		}},
	}
}

func missingScript(match []string) string {
	return fmt.Sprintf("The agent's program %s does not exist. Check command and args of its profile.", match[1])
}
