// Package apicontract holds the hub to api/openapi.yaml in tests: every answer, every accepted request and every WebSocket
// frame is compared with the contract. Nothing in the product imports it.
package apicontract

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"
)

// Load reads and checks api/openapi.yaml of the repository that the working directory lies in.
func Load(ctx context.Context) (*openapi3.T, error) {
	return loadSpec(ctx, "openapi.yaml")
}

func loadSpec(ctx context.Context, name string) (*openapi3.T, error) {
	root, err := repositoryRoot()
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromFile(filepath.Join(root, "api", name))
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	if err := doc.Validate(ctx); err != nil {
		return nil, fmt.Errorf("check %s: %w", name, err)
	}
	return doc, nil
}

// repositoryRoot walks up from the working directory, which for a test is its package's folder, to the folder with api/openapi.yaml.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find repository root: %w", err)
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "api", "openapi.yaml"))
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("find repository root: %w", err)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find repository root: no api/openapi.yaml above the working directory")
		}
		dir = parent
	}
}

// closeObjects makes every object that lists properties refuse others. Clients must tolerate unknown fields; the hub's own
// answers must not have any, or the contract would be incomplete without anybody noticing.
func closeObjects(doc *openapi3.T) {
	for _, schema := range doc.Components.Schemas {
		closeObject(schema.Value)
	}
}

func closeObject(schema *openapi3.Schema) {
	if len(schema.Properties) > 0 && schema.AdditionalProperties.Has == nil && schema.AdditionalProperties.Schema == nil {
		closed := false
		schema.AdditionalProperties.Has = &closed
	}
	for _, property := range schema.Properties {
		if property.Ref == "" {
			closeObject(property.Value)
		}
	}
	if schema.Items != nil && schema.Items.Ref == "" {
		closeObject(schema.Items.Value)
	}
}

// payloadSchemas reads which schema the payload of each frame type has.
func payloadSchemas(doc *openapi3.T) (map[string]*openapi3.Schema, error) {
	return named(doc, "HubWebSocketFrame", "x-payload-schemas")
}

// problemStatuses reads the HTTP statuses that each problem code may come with.
func problemStatuses(doc *openapi3.T) (map[string][]int, error) {
	mapping, ok := doc.Components.Schemas["ProblemCode"].Value.Extensions["x-statuses"].(map[string]any)
	if !ok {
		return nil, errors.New("ProblemCode has no x-statuses")
	}
	statuses := make(map[string][]int, len(mapping))
	for code, list := range mapping {
		entries, ok := list.([]any)
		if !ok {
			return nil, fmt.Errorf("x-statuses: %s is not a list", code)
		}
		for _, entry := range entries {
			status, err := strconv.Atoi(fmt.Sprint(entry))
			if err != nil {
				return nil, fmt.Errorf("x-statuses: %s: %w", code, err)
			}
			statuses[code] = append(statuses[code], status)
		}
	}
	return statuses, nil
}
