package profile

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the schema and the page of profiles again")

const (
	schemaFile = "../../../api/profile.schema.json"
	page       = "../../../docs/protocols/bridge.md"
)

func TestSchemaInTheRepositoryIsThatOfTheFields(t *testing.T) {
	if *update {
		if err := os.WriteFile(schemaFile, Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(schemaFile); err != nil || !bytes.Equal(got, Schema()) {
		t.Errorf("%s is not up to date (%v): run this test with -update", schemaFile, err)
	}
}

func TestPageDescribesEveryField(t *testing.T) {
	const head = "| field | default | meaning |\n|---|---|---|\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), head)
	table, after, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		t.Fatalf("%s has no table of fields", page)
	}
	var rows []string
	for _, f := range fields() {
		rows = append(rows, fmt.Sprintf("| %#q | %s | %s |", f.name, f.without, f.about))
	}
	want := strings.Join(rows, "\n")
	if *update {
		if err := os.WriteFile(page, []byte(before+head+want+"\n\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if table != want {
		t.Errorf("%s is not up to date: run this test with -update", page)
	}
}

// judge is what an editor does with the schema.
func judge(t *testing.T) func(file string) error {
	t.Helper()
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("profile.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("profile.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(file string) error {
		var value any
		if err := yaml.Unmarshal([]byte(file), &value); err != nil {
			return err
		}
		return compiled.Validate(value)
	}
}

func TestShippedExamplesFitTheSchema(t *testing.T) {
	examples, err := filepath.Glob("../../../examples/agents/*.yaml")
	if err != nil || len(examples) < 3 {
		t.Fatalf("examples are %q, %v", examples, err)
	}
	check := judge(t)
	for _, path := range examples {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(string(data)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestSchemaAndEdgeAgree(t *testing.T) {
	check := judge(t)
	for _, file := range []string{
		full, "agentproc: {command: x}", "executor: scout", "command: 1", "command: x\nx-mine: {a: 1}", "agentproc: {command: x}\nx-mine: 1",
		"args: [a]", "command: x\npermision: true", "agentproc: {command: x}\nargs: []", "agentproc: x", "agentproc: {args: []}", "command: [x]",
		"command: x\nargs: a", "command: x\nargs: [1, true, a]", "command: x\nargs: [[a]]", "command: x\nenv: [a]", "command: x\nenv: {A: 1, B: null}",
		"command: x\nenv: {\"A B\": 1}", "command: x\nenv: {A: [1]}", "command: x\nenv_allowlist: [A-B]", "command: x\nenv_allowlist: [A_B]",
		"command: x\ntimeout_secs: -1", "command: x\ntimeout_secs: 0.5", "command: x\ntimeout_secs: soon", "command: x\ntimeout_secs: 1e12",
		"command: x\nstreaming: \"yes\"", "command: x\nruntime: telnet", "command: x\nruntime: events", "command: x\npermission_policy: deny",
		"command: x\npermission: true\npermission_policy: deny-all", "command: x\nmax_runs: 0", "command: x\nmax_runs: 1.5", "command: x\nmax_runs: 7",
		"command: x\nreadonly_tools: Read", "command: x\nreadonly_tools: [Read]", "- command", "command",
	} {
		_, problems := Parse([]byte(file), "a", "/p")
		if err := check(file); (err != nil) != problems.Faulty() {
			t.Errorf("%q\nschema: %v\nedge: %v", file, err, problems)
		}
	}
}
