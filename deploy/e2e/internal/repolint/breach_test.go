package repolint

import (
	"strings"
	"testing"
)

// source parses one made-up file, so that a rule can be seen to catch its breach.
func source(t *testing.T, name, text string) File {
	t.Helper()
	f, err := parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func importing(t *testing.T, name string, imports ...string) File {
	t.Helper()
	return source(t, name, "package p\n\nimport (\n\t_ \""+strings.Join(imports, "\"\n\t_ \"")+"\"\n)\n")
}

func TestAnImportAgainstTheLayersIsReported(t *testing.T) {
	const here = modulePrefix
	for _, c := range []struct {
		name, file, imports string
		reported            bool
	}{
		{"domain to HTTP", "hub-server/internal/chat/a.go", "net/http", true},
		{"domain to a driver", "hub-server/internal/project/canonical/a.go", "github.com/jackc/pgx/v5", true},
		{"domain to an adapter", "hub-server/internal/runlog/a.go", here + "hub-server/internal/sqlstore", true},
		{"domain to domain", "hub-server/internal/runlog/a.go", here + "hub-server/internal/fleet", false},
		{"domain to shared", "hub-server/internal/runlog/a.go", here + "shared/event", false},
		{"domain test to HTTP", "hub-server/internal/chat/a_test.go", "net/http", false},
		{"adapter to domain", "hub-server/internal/sqlstore/a.go", here + "hub-server/internal/chat", false},
		{"adapter to a driver", "hub-server/internal/sqlstore/a.go", "database/sql", false},
		{"adapter to adapter", "hub-server/internal/gate/a.go", here + "hub-server/internal/httpapi", true},
		{"adapter to its own part", "hub-server/internal/sqlstore/a.go", here + "hub-server/internal/sqlstore/migrations", false},
		{"a name that only begins alike, in no layer", "hub-server/internal/chatter/a.go", here + "shared/event", true},
		{"what helps tests", "hub-server/internal/testpg/a.go", "database/sql", false},
		{"adapter to the root", "hub-server/internal/gate/a.go", here + "hub-server/hub", true},
		{"edge part to the root", "edge-server/internal/journal/a.go", here + "edge-server/edge", true},
		{"program to the root", "hub-server/cmd/hub-server/main.go", here + "hub-server/hub", false},
		{"system test to the root", "deploy/e2e/story_test.go", here + "hub-server/hub", false},
		{"shared to technology", "shared/wire/a.go", "github.com/nats-io/nats.go", true},
		{"telemetry to HTTP", "shared/telemetry/a.go", "net/http", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := Layers([]File{importing(t, c.file, c.imports)})
			if got := len(problems) > 0; got != c.reported {
				t.Fatalf("reported = %v, want %v: %v", got, c.reported, problems)
			}
		})
	}
}

func TestATerminalClientPastTheSDKIsReported(t *testing.T) {
	const here, yard = modulePrefix, "hub-server/internal/yard/cli/a.go"
	for _, c := range []struct {
		name, file, text string
		reported         bool
	}{
		{"the SDK", yard, `import _ "` + here + `hub-server/client"`, false},
		{"a part of the hub", yard, `import _ "` + here + `hub-server/internal/chat"`, true},
		{"a library for sockets", yard, `import _ "github.com/coder/websocket"`, true},
		{"a status", yard, "import \"net/http\"\nvar x = http.StatusOK", false},
		{"a client", yard, "import \"net/http\"\nvar x http.Client", true},
		{"a client under another name", yard, "import h \"net/http\"\nvar x = h.Get", true},
		{"a socket", "hub-server/cmd/yard/main.go", "import \"net\"\nvar x net.Dialer", true},
		{"a test", "hub-server/internal/yard/cli/a_test.go", "import \"net/http\"\nvar x http.Client", false},
		{"somebody else", "hub-server/internal/gate/a.go", "import \"net/http\"\nvar x http.Client", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := Terminal([]File{source(t, c.file, "package p\n\n"+c.text+"\n")})
			if got := len(problems) > 0; got != c.reported {
				t.Fatalf("reported = %v, want %v: %v", got, c.reported, problems)
			}
		})
	}
}

func TestASecondImporterIsReported(t *testing.T) {
	one := importing(t, "hub-server/internal/sqlstore/a.go", "modernc.org/sqlite")
	for _, c := range []struct {
		name     string
		second   File
		reported bool
	}{
		{"the same package", importing(t, "hub-server/internal/sqlstore/b.go", "modernc.org/sqlite/lib"), false},
		{"another package", importing(t, "hub-server/internal/gate/b.go", "modernc.org/sqlite/lib"), true},
		{"another module", importing(t, "edge-server/internal/journal/b.go", "modernc.org/sqlite"), false},
		{"a test", importing(t, "hub-server/internal/gate/b_test.go", "modernc.org/sqlite"), false},
		{"a test helper", importing(t, "hub-server/internal/teststore/b.go", "modernc.org/sqlite"), false},
		{"another library", importing(t, "hub-server/internal/gate/b.go", "modernc.org/libc"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := Libraries([]File{one, c.second})
			if got := len(problems) > 0; got != c.reported {
				t.Fatalf("reported = %v, want %v: %v", got, c.reported, problems)
			}
		})
	}
}

func TestALongFileIsReported(t *testing.T) {
	lines := func(n int) string { return "package p\n" + strings.Repeat("\n", n-1) }
	for _, c := range []struct {
		name, file, text string
		reported         bool
	}{
		{"at the limit", "shared/id/a.go", lines(maxLines), false},
		{"past it", "shared/id/a.go", lines(maxLines + 1), true},
		{"a test at its limit", "shared/id/a_test.go", lines(maxTestLines), false},
		{"a test past it", "shared/id/a_test.go", lines(maxTestLines + 1), true},
		{"generated", "shared/id/a.gen.go", "// Code generated by x. DO NOT EDIT.\n\n" + lines(maxLines+1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := Sizes([]File{source(t, c.file, c.text)})
			if got := len(problems) > 0; got != c.reported {
				t.Fatalf("reported = %v, want %v: %v", got, c.reported, problems)
			}
		})
	}
}

func TestAGoStatementIsReported(t *testing.T) {
	const text = "package p\n\nfunc f() {\n\tgo f()\n}\n"
	if len(Goroutines([]File{source(t, "hub-server/internal/chat/a.go", text)})) != 1 {
		t.Error("a go statement in a domain package passed")
	}
	for _, fine := range []string{"shared/supervise/a.go", "hub-server/internal/chat/a_test.go"} {
		if problems := Goroutines([]File{source(t, fine, text)}); len(problems) != 0 {
			t.Errorf("reported: %v", problems)
		}
	}
}

func TestADrawerIsReported(t *testing.T) {
	if len(Drawers([]File{source(t, "shared/util/a.go", "package util\n")})) != 1 {
		t.Error("package util passed")
	}
	if problems := Drawers([]File{source(t, "shared/id/a.go", "package id\n")}); len(problems) != 0 {
		t.Errorf("reported: %v", problems)
	}
}

func TestAnExportedNameWithoutACommentIsReported(t *testing.T) {
	for _, c := range []struct {
		name, text string
		reported   int
	}{
		{"function", "func F() {}", 1},
		{"with a comment", "// F does.\nfunc F() {}", 0},
		{"hidden", "func f() {}", 0},
		{"type", "type T int", 1},
		{"method", "// T is.\ntype T int\n\nfunc (t *T) M() {}", 1},
		{"method of a generic type", "// T is.\ntype T[A any] int\n\nfunc (t *T[A]) M() {}", 1},
		{"method of a hidden type", "type t int\n\nfunc (t *t) M() {}", 0},
		{"well-known method", "// T is.\ntype T int\n\nfunc (T) String() string { return \"\" }", 0},
		{"group with one comment", "// The kinds.\nconst (\n\tA = 1\n\tB = 2\n)", 0},
		{"group with comments inside", "const (\n\t// A is.\n\tA = 1\n\tB = 2 // B is.\n)", 0},
		{"group without", "const (\n\tA = 1\n\tb = 2\n)", 1},
		{"siblings under one comment", "// F and G do.\nfunc F() {}\nfunc G() {}", 0},
		{"siblings apart", "// F does.\nfunc F() {}\n\nfunc G() {}", 1},
		{"siblings without", "func F() {}\nfunc G() {}", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := Comments([]File{source(t, "shared/id/a.go", "package id\n\n"+c.text+"\n")})
			if len(problems) != c.reported {
				t.Fatalf("%d reported, want %d: %v", len(problems), c.reported, problems)
			}
		})
	}
}

func TestAForbiddenWordIsReported(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		reported         bool
	}{
		{"unfinished Go", "shared/id/a.go", "// TODO: later", true},
		{"the word inside another", "shared/id/a.go", "// TODOS", false},
		{"unfinished prose is a plan", "docs/a.md", "TODO lists", false},
		{"somebody's folder", "docs/a.md", "see /root/notes", true},
		{"somebody's registry", ".ci/run", "export GOPROXY=http://cache", true},
		{"a picture", "docs/a.png", "/root/", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := Words(c.file, []byte("first line\n"+c.text+"\n"))
			if got := len(problems) > 0; got != c.reported {
				t.Fatalf("reported = %v, want %v: %v", got, c.reported, problems)
			}
			if c.reported && problems[0].Line != 2 {
				t.Fatalf("line %d, want 2", problems[0].Line)
			}
		})
	}
}
