package profile

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Turn is what placeholders stand for.
type Turn struct {
	SessionID   string // the agent's own session, "" for a new one
	SessionName string
}

// Edge is the process that a profile is expanded in.
type Edge struct {
	Program string // absolute path of this program: it plays the agents of Executors
	Lookup  func(variable string) (string, bool)
}

// Launch is a profile with everything expanded: what to start.
type Launch struct {
	Argv []string
	Dir  string // absolute; empty when the profile names none
	Env  map[string]string
	// Secrets are values that must never leave the edge, each at least 8 bytes long: shorter ones cannot be told from ordinary text.
	Secrets  []string
	Warnings []string // sentences for the log
}

const (
	minSecret          = 8
	defaultSessionName = "default"
)

// Launch expands the profile for one turn.
func (p Profile) Launch(turn Turn, edge Edge) Launch {
	if turn.SessionName == "" {
		turn.SessionName = defaultSessionName
	}
	// Both come from outside, and neither an argument nor a variable can hold a NUL.
	whole := strings.NewReplacer("\x00", "")
	e := newExpander(map[string]string{
		sessionID: whole.Replace(turn.SessionID), sessionName: whole.Replace(turn.SessionName), profileDir: p.Dir,
	})
	home, _ := edge.Lookup("HOME")
	l := Launch{Env: map[string]string{}}
	l.Argv = p.argv(edge.Program, func(s string) string { return expandHome(e.text(s), home) })
	if p.Cwd != "" {
		l.Dir = expandHome(e.text(p.Cwd), home)
		if !filepath.IsAbs(l.Dir) {
			l.Dir = filepath.Join(p.Dir, l.Dir)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		p.expandEnv(&l, name, e, edge.Lookup)
	}
	slices.Sort(l.Secrets)
	l.Secrets = slices.Compact(l.Secrets)
	return l
}

func (p Profile) argv(program string, expand func(string) string) []string {
	argv := []string{expand(p.Command)}
	if slices.Contains(Executors(), p.Executor) {
		argv = []string{program, "builtin", p.Executor}
	}
	for _, arg := range p.Args {
		argv = append(argv, expand(arg))
	}
	return argv
}

// expandEnv sets one variable of the agent. A value is a secret if it comes from a variable of the edge or its name says so, unless the
// profile calls it public.
func (p Profile) expandEnv(l *Launch, name string, e expander, lookup func(string) (string, bool)) {
	var taken []string
	e.variable = func(variable string) string {
		if p.EnvAllowlist != nil && !slices.Contains(p.EnvAllowlist, variable) {
			l.Warnings = append(l.Warnings, fmt.Sprintf("env.%s: ${%s} is not in env_allowlist and stays empty", name, variable))
			return ""
		}
		value, _ := lookup(variable)
		taken = append(taken, value)
		return value
	}
	value := e.text(p.Env[name])
	l.Env[name] = value
	if slices.Contains(p.PublicEnv, name) {
		return
	}
	if len(taken) > 0 || secretName(name) {
		taken = append(taken, value)
	}
	for _, secret := range taken {
		if len(secret) >= minSecret {
			l.Secrets = append(l.Secrets, secret)
		}
	}
}

func secretName(name string) bool {
	upper := strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE"},
		func(part string) bool { return strings.Contains(upper, part) })
}
