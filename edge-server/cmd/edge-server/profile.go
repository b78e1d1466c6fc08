package main

import (
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
)

type profileCommand struct {
	Check profileCheckCommand `cmd:"" help:"Say what is wrong with an agent's profile, line by line."`
}

type profileCheckCommand struct {
	File string `arg:"" help:"The YAML file. It works in the folder profiles of EDGE_HOME."`
}

var errFaultyProfile = errors.New("the profile cannot be used")

// Run prints every problem of the file and fails if it cannot be used.
func (c *profileCheckCommand) Run(p program) error {
	found, problems, err := profile.ReadFile(c.File)
	if err != nil {
		return err
	}
	for _, problem := range problems {
		if _, err := fmt.Fprintf(p.stdout, "%s: %s\n", c.File, problem); err != nil {
			return err
		}
	}
	if problems.Faulty() {
		return errFaultyProfile
	}
	_, err = fmt.Fprintf(p.stdout, "%s: agent %s, runtime %s\n", c.File, found.Name, found.Runtime)
	return err
}
