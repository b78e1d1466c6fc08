package localapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/switchyard-dev/switchyard/edge-server/internal/eventsocket"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const maxAnswer = 4 << 20

// Ready says whether the edge takes work.
func (h Health) Ready() bool { return h.Status == OK }

// Ask asks the edge that listens at addr for its health.
func Ask(ctx context.Context, addr string, token Token) (Health, error) {
	var h Health
	answer, err := get(ctx, addr, "/v1/health", token)
	if err == nil && json.Unmarshal(answer.body, &h) != nil {
		err = fmt.Errorf("what listens at %s is no edge: it answered %d", addr, answer.status)
	}
	if err != nil {
		return h, fmt.Errorf("ask for health: %w", err)
	}
	return h, nil
}

// AskRuns asks the edge that listens at addr for its runs, the newest first: those before one of them, or from the beginning if before is
// empty.
func AskRuns(ctx context.Context, addr string, token Token, before id.Run) (Runs, error) {
	var list Runs
	answer, err := get(ctx, addr, "/v1/runs?"+url.Values{"before": {string(before)}}.Encode(), token)
	if err == nil && answer.status != http.StatusOK {
		err = refusal(answer.status, answer.body)
	}
	if err == nil {
		err = json.Unmarshal(answer.body, &list)
	}
	if err != nil {
		return list, fmt.Errorf("ask for runs: %w", err)
	}
	return list, nil
}

// Follow calls each with every event from number from on, as it is stored, and then with those to come, until ctx ends. from 0 means only
// those to come. It fails with the fault of a refusal, with what each returned, or with how the edge ended the connection.
func Follow(ctx context.Context, addr string, token Token, from wire.ProducerSeq, each func(message []byte) error) error {
	address := "ws://" + addr + "/v1/events"
	if from > 0 {
		address += "?cursor=" + strconv.FormatUint(uint64(from), 10)
	}
	err := eventsocket.Follow(ctx, address, token.header(), each)
	var refused *eventsocket.Refused
	if errors.As(err, &refused) {
		err = refusal(refused.Status, refused.Body)
	}
	if err != nil {
		return fmt.Errorf("follow events: %w", err)
	}
	return nil
}

// refusal reads the fault out of a problem.
func refusal(status int, body []byte) error {
	var p problem
	if json.Unmarshal(body, &p) == nil && p.Code != "" {
		return fault.New(p.Code, "%s", p.Detail)
	}
	return fmt.Errorf("the answer was %d", status)
}

type answer struct {
	status int
	body   []byte
}

func get(ctx context.Context, addr, path string, token Token) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return answer{}, err
	}
	r.Header = token.header()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: it is this machine
	got, err := client.Do(r)
	if err != nil {
		return answer{}, fmt.Errorf("no edge answers at %s: %w", addr, err)
	}
	defer got.Body.Close() //nolint:errcheck // read to its bound
	body, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer))
	if err != nil {
		return answer{}, fmt.Errorf("read the answer of %s: %w", addr, err)
	}
	return answer{got.StatusCode, body}, nil
}
