package profile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/shared/wire"
)

// field is one key of a profile. The table of them is what the reader, the JSON Schema and the documentation are made of.
type field struct {
	name    string
	kind    kind
	without string // what holds without it
	about   string // what it means, in half a sentence
}

// kind says how a value is read and what an editor is told about it.
type kind struct {
	read   fieldReader
	schema schema
}

// fields returns every key. S4's are the first group, ours the second.
func fields() []field {
	return []field{
		{"command", text(func(p *Profile) *string { return &p.Command }), "", "argv[0]: one token, never split, no shell"},
		{"args", list(func(p *Profile) *[]string { return &p.Args }), "none", "argv[1..]"},
		{
			"cwd", text(func(p *Profile) *string { return &p.Cwd }), "a folder of the agent's own per conversation",
			"where it works; relative to the profile's folder",
		},
		{
			"env", environment(), "none",
			"variables of the agent, beside PATH HOME USER LOGNAME SHELL LANG LC_ALL LC_CTYPE LC_MESSAGES TERM TMPDIR TZ PWD; nothing else is inherited",
		},
		{
			"env_allowlist", variables(func(p *Profile) *[]string { return &p.EnvAllowlist }), "all",
			"which variables of the edge ${VAR} may show; another one becomes empty, with a warning",
		},
		{
			"timeout_secs", limit(func(p *Profile) *time.Duration { return &p.Timeout }), inSeconds(DefaultTimeout),
			"limit of a whole turn; 0 or less is no limit",
		},
		{"kill_grace_secs", period(func(p *Profile) *time.Duration { return &p.Grace }), inSeconds(DefaultGrace), "from TERM to KILL"},
		{"streaming", boolean(func(p *Profile) *bool { return &p.Streaming }), "true", "partials are passed on at once"},
		{
			"permission", boolean(func(p *Profile) *bool { return &p.Permission }), "false",
			"the agent may ask: stdin stays open for the answers",
		},
		{
			"executor", text(func(p *Profile) *string { return &p.Executor }), "none",
			"an agent that ships inside the edge (" + strings.Join(Executors(), ", ") + "); command is then ignored",
		},

		{"runtime", choice(Runtimes(), func(p *Profile) *Runtime { return &p.Runtime }), string(Bridge), "ours: the protocol that the agent speaks, " + oneOf(Runtimes())},
		{"description", text(func(p *Profile) *string { return &p.Description }), "none", "ours: a sentence for people"},
		{
			"public_env", variables(func(p *Profile) *[]string { return &p.PublicEnv }), "none",
			"ours: names in env whose values are no secrets",
		},
		{
			"permission_policy", choice(Policies(), func(p *Profile) *Policy { return &p.Policy }), string(Ask),
			"ours: who answers an agent that asks, " + oneOf(Policies()) + "; read anew for each question",
		},
		{
			"readonly_tools", list(func(p *Profile) *[]string { return &p.ReadonlyTools }), strings.Join(DefaultReadonlyTools(), " "),
			"ours: the tools that allow-readonly lets through, by their exact names",
		},
		{
			"controls", words(wire.Controls(), func(p *Profile) *[]string { return &p.Controls }), "none",
			"ours: what the agent can be told while it works, of " + strings.Join(wire.Controls(), " ") + "; for runtime: " + string(Events),
		},
		{
			"max_runs", count(func(p *Profile) *int { return &p.MaxRuns }), "no limit but EDGE_PLACES",
			"ours: how many turns of this agent run at once on this edge; further ones wait",
		},
	}
}

func oneOf[T ~string](options []T) string {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = string(o)
	}
	return strings.Join(names, " or ")
}

func inSeconds(d time.Duration) string { return fmt.Sprint(d.Seconds()) }

func fieldNamed(name string) (field, bool) {
	all := fields()
	i := slices.IndexFunc(all, func(f field) bool { return f.name == name })
	if i < 0 {
		return field{}, false
	}
	return all[i], true
}

func fieldNames() []string {
	var names []string
	for _, f := range fields() {
		names = append(names, f.name)
	}
	return names
}
