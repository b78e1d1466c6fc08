package localapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

const maxAnswer = 4 << 20

// Ready says whether the edge takes work.
func (h Health) Ready() bool { return h.Status == OK }

// Ask asks the edge that listens at addr for its health.
func Ask(ctx context.Context, addr string, token Token) (Health, error) {
	var h Health
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/v1/health", nil)
	if err != nil {
		return h, fmt.Errorf("ask for health: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+string(token))
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: it is this machine
	answer, err := client.Do(r)
	if err != nil {
		return h, fmt.Errorf("no edge answers at %s: %w", addr, err)
	}
	defer answer.Body.Close() //nolint:errcheck // read to its bound below
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(&h); err != nil {
		return h, fmt.Errorf("ask for health: what listens at %s is no edge: %w", addr, err)
	}
	return h, nil
}
