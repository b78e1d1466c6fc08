package repolint

import (
	"slices"
	"strings"
)

// Imports run one way: cmd, then the composition root, then adapters, then domain, then shared.
var (
	hubDomain = []string{
		"hub-server/internal/account", "hub-server/internal/archive", "hub-server/internal/audit", "hub-server/internal/backup", "hub-server/internal/cardlog",
		"hub-server/internal/chat", "hub-server/internal/contact", "hub-server/internal/control", "hub-server/internal/delivery", "hub-server/internal/fleet", "hub-server/internal/notice", "hub-server/internal/omnilog", "hub-server/internal/paging",
		"hub-server/internal/peer", "hub-server/internal/presence", "hub-server/internal/project", "hub-server/internal/prompt",
		"hub-server/internal/push", "hub-server/internal/retention", "hub-server/internal/runlog", "hub-server/internal/search",
		"hub-server/internal/timer",
	}
	hubAdapters = []string{
		"hub-server/internal/gate", "hub-server/internal/httpapi", "hub-server/internal/memstate",
		"hub-server/internal/natsbus", "hub-server/internal/outgoing", "hub-server/internal/redisstate", "hub-server/internal/sqlstore",
		"hub-server/internal/uplink",
	}
	// hubAside are no part of a hub: the terminal client, and what helps tests and measurements.
	hubAside = []string{
		"hub-server/internal/cmd", "hub-server/internal/pushtest", "hub-server/internal/simulator", "hub-server/internal/statetest", "hub-server/internal/testpg",
		"hub-server/internal/testproc", "hub-server/internal/testredis", "hub-server/internal/testsqlite", "hub-server/internal/yard",
	}
	roots = []string{"hub-server/hub", "edge-server/edge"}

	// technology is what a package that only knows the subject matter has no business with.
	technology = []string{
		"database/sql", "net/http",
		"github.com/coder/websocket", "github.com/jackc/pgx", "github.com/nats-io",
		"github.com/oapi-codegen", "github.com/pressly/goose", "github.com/redis", "modernc.org/sqlite",
	}

	// sharedMayHelp are the two shared packages that are not a protocol but help both processes to run.
	sharedMayHelp = []string{"shared/supervise", "shared/telemetry"}
)

// Layers reports imports that run against the layers, and packages of the hub that are in none: no rule would hold for them. Tests may reach
// wherever they need to.
func Layers(files []File) []Problem {
	var problems []Problem
	for _, f := range files {
		if f.IsTest() {
			continue
		}
		if unplaced(f.Package()) {
			problems = append(problems, f.problem(1, "%s is in no layer: say in repolint, and in .golangci.yml, which one it belongs to", f.Package()))
		}
		for imported, line := range f.Imports {
			if why := breach(f, imported); why != "" {
				problems = append(problems, f.problem(line, "%s imports %s: %s", f.Package(), imported, why))
			}
		}
	}
	return problems
}

// unplaced says whether a package of the hub is in no layer.
func unplaced(pkg string) bool {
	return strings.HasPrefix(pkg, "hub-server/internal/") && within(pkg, slices.Concat(hubDomain, hubAdapters, hubAside)) == ""
}

// breach says why f may not import what it imports, or nothing.
func breach(f File, imported string) string {
	from := f.Package()
	adapter := within(imported, hubAdapters)
	switch {
	case within(from, hubDomain) != "" && within(imported, technology) != "":
		return "the domain knows no technology; put it behind an interface"
	case within(from, hubDomain) != "" && adapter != "":
		return "adapters import the domain, not the reverse"
	case within(from, hubAdapters) != "" && adapter != "" && within(from, hubAdapters) != adapter:
		return "adapters do not import each other; the composition root connects them"
	case f.Module == "shared" && within(from, sharedMayHelp) == "" && within(imported, technology) != "":
		return "shared is a protocol and knows no technology"
	case within(imported, roots) != "" && within(from, roots) == "" && !isProgram(from):
		return "a composition root imports everyone and is imported by nobody"
	}
	return ""
}

// within returns the element of folders that holds pkg or is pkg; "" if none.
func within(pkg string, folders []string) string {
	i := slices.IndexFunc(folders, func(folder string) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") })
	if i < 0 {
		return ""
	}
	return folders[i]
}

// isProgram says whether a package is below a cmd folder.
func isProgram(pkg string) bool { return strings.Contains(pkg, "/cmd/") }

// drawers are package names that say nothing, and so collect everything.
var drawers = []string{"common", "core", "helper", "helpers", "manager", "misc", "models", "types", "util", "utils"}

// Drawers reports packages whose name does not say what they are about.
func Drawers(files []File) []Problem {
	var problems []Problem
	for _, f := range files {
		if name := f.syntax.Name.Name; slices.Contains(drawers, name) {
			problems = append(problems, f.problem(f.line(f.syntax.Name), "package %s is a drawer: name what it is about", name))
		}
	}
	return problems
}
