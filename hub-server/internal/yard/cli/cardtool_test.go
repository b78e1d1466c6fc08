package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestOfAToolsOutputNoMoreIsKeptThanFits(t *testing.T) {
	_, err := runTool(t.Context(), `head -c 300000 /dev/zero`, json.RawMessage(`{}`))
	if err == nil || !strings.Contains(err.Error(), "more than 262144 bytes") {
		t.Errorf("too much output gives %v", err)
	}
	_, err = runTool(t.Context(), `head -c 300000 /dev/zero | tr '\0' x >&2; exit 3`, json.RawMessage(`{}`))
	if err == nil || len(err.Error()) != maxWhy {
		t.Errorf("a long complaint is %.2000v, want %d bytes of it", err, maxWhy)
	}
}
