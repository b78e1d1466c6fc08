package main

import (
	"fmt"
	"runtime"
)

type versionCommand struct{}

// Run prints one line.
func (versionCommand) Run(p program) error {
	_, err := fmt.Fprintf(p.stdout, "edge-server %s (%s %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
