package profile

import (
	"fmt"
	"strings"
)

// Summary says in a few lines what the profile comes to on this machine: what is started, where, and who is asked. What is another text in
// each conversation stays a placeholder.
func (p Profile) Summary(edge Edge) string {
	launch := p.Launch(Turn{SessionID: sessionID, SessionName: sessionName}, edge)
	where := launch.Dir
	if where == "" {
		where = "a folder of the agent's own per conversation"
	}
	lines := []string{
		fmt.Sprintf("agent %s, runtime %s", p.Name, p.Runtime),
		"  command     " + quoted(launch.Argv),
		"  cwd         " + where,
		"  permission  " + p.permission(),
	}
	if len(p.Controls) > 0 {
		lines = append(lines, "  controls    "+strings.Join(p.Controls, " "))
	}
	if p.MaxRuns > 0 {
		lines = append(lines, fmt.Sprintf("  max_runs    %d", p.MaxRuns))
	}
	return strings.Join(lines, "\n")
}

func (p Profile) permission() string {
	switch {
	case !p.Permission:
		return "not asked for: the agent decides by itself"
	case p.Policy == AllowReadonly:
		tools := p.ReadonlyTools
		if tools == nil {
			tools = DefaultReadonlyTools()
		}
		return fmt.Sprintf("%s (%s)", p.Policy, strings.Join(tools, " "))
	}
	return string(p.Policy)
}

// quoted writes an argv so that its borders can be seen.
func quoted(argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		if words[i] = arg; arg == "" || strings.ContainsAny(arg, " \t\r\n\"'\\") {
			words[i] = fmt.Sprintf("%q", arg)
		}
	}
	return strings.Join(words, " ")
}
