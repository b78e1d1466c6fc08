// Command tsgen writes what the TypeScript SDK takes from api/openapi.yaml, shared/card and shared/omni into a folder: hubEvents.ts, types.gen.ts,
// api.gen.ts, cards.gen.ts and omni.gen.ts.
// scripts/generate.sh calls it.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/tsgen"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: tsgen FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "tsgen:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	files, err := tsgen.Generate(context.Background())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // source code
		return fmt.Errorf("make folder: %w", err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil { //nolint:gosec // source code
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}
