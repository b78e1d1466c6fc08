package uplink

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Enrolment is what an edge says about itself when it redeems a token.
type Enrolment struct {
	Token    string `json:"token"` // secret
	Hostname string `json:"hostname"`
	Version  string `json:"version"`
}

// Enrol redeems a token at a hub. The fault of a refusal is the hub's own.
func Enrol(ctx context.Context, hubURL string, e Enrolment) (Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	h, err := newHub(Identity{HubURL: hubURL})
	if err != nil {
		return Identity{}, err
	}
	defer h.close()
	body, err := json.Marshal(e)
	if err != nil {
		return Identity{}, fmt.Errorf("encode enrolment: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.base.JoinPath("edge", "enrol").String(), bytes.NewReader(body))
	if err != nil {
		return Identity{}, fmt.Errorf("enrolment request: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := h.client.Do(r)
	if err != nil {
		return Identity{}, fmt.Errorf("enrolment request: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // read to its bound below
	if answer.StatusCode/100 != 2 {
		return Identity{}, problem(answer)
	}
	return readCredential(h, answer.Body)
}

func readCredential(h *hub, body io.Reader) (Identity, error) {
	var got struct {
		EdgeID     string `json:"edge_id"`
		Credential string `json:"credential"`
	}
	if err := json.NewDecoder(io.LimitReader(body, maxProblem)).Decode(&got); err != nil {
		return Identity{}, fmt.Errorf("read the hub's answer: %w", err)
	}
	edge, err := id.ParseEdge(got.EdgeID)
	if err != nil || got.Credential == "" {
		return Identity{}, errors.New("the hub answered without an edge id or a credential")
	}
	return Identity{HubURL: h.base.String(), Edge: edge, Credential: got.Credential}, nil
}
