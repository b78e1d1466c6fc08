package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/switchyard-dev/switchyard/edge-server/edge"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
)

type profileCommand struct {
	Check  profileCheckCommand  `cmd:"" help:"Say what is wrong with agents' profiles, line by line, and what they come to."`
	Schema profileSchemaCommand `cmd:"" help:"Print the JSON Schema of profiles, for editors."`
}

type profileCheckCommand struct {
	Paths []string `arg:"" optional:"" name:"path" help:"YAML files, or folders of them. Without any: the folder profiles of EDGE_HOME."`
}

var errFaultyProfile = errors.New("not every profile can be used")

// Run prints every problem and what each usable profile resolves to. It fails if a file cannot be used.
func (c *profileCheckCommand) Run(p program) error {
	files, err := c.files(p)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	here := profile.Edge{Program: program, Lookup: os.LookupEnv}
	var out strings.Builder
	errs, warnings := 0, 0
	for _, f := range profile.ReadFiles(files, here) {
		for _, problem := range f.Problems {
			fmt.Fprintln(&out, problem.At(f.Path))
		}
		if !f.Problems.Faulty() {
			fmt.Fprintf(&out, "%s: %s\n", f.Path, f.Profile.Summary(here))
		}
		errs += f.Problems.Errors()
		warnings += len(f.Problems) - f.Problems.Errors()
	}
	fmt.Fprintf(&out, "profiles: %d, errors: %d, warnings: %d\n", len(files), errs, warnings)
	if _, err := io.WriteString(p.stdout, out.String()); err != nil {
		return err
	}
	if errs > 0 {
		return errFaultyProfile
	}
	return nil
}

// files are the named ones, and those in the named folders.
func (c *profileCheckCommand) files(p program) ([]string, error) {
	if len(c.Paths) == 0 {
		config, err := edge.LoadConfig(p.environ)
		if err != nil {
			return nil, fmt.Errorf("configuration:\n%w", err)
		}
		return profile.Files(config.ProfileFolder())
	}
	var files []string
	for _, path := range c.Paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			files = append(files, path) // what is wrong with it shows when it is read
			continue
		}
		inside, err := profile.Files(path)
		if err != nil {
			return nil, err
		}
		files = append(files, inside...)
	}
	return files, nil
}

type profileSchemaCommand struct{}

// Run prints the schema.
func (profileSchemaCommand) Run(p program) error {
	_, err := p.stdout.Write(profile.Schema())
	return err
}
