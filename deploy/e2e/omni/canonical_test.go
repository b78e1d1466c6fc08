package omni

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// open asks for a stream of server-sent events and returns its lines.
func open(ctx context.Context, d *rig.Device, address, last string) (*http.Response, *bufio.Scanner, error) {
	login, err := d.Keeper.Load()
	if err != nil {
		return nil, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+login.AccessToken)
	r.Header.Set("Accept", "text/event-stream")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	once := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // without a limit: a stream lasts
	answer, err := once.Do(r)
	if err != nil {
		return nil, nil, err
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close() //nolint:errcheck // the answer says enough
		return nil, nil, fmt.Errorf("%s was answered %s", address, answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 64<<20)
	return answer, lines, nil
}

// overCanonical follows a run as S2 tells it, up to its end, and adds it to a tale as the next turn.
func overCanonical(ctx context.Context, d *rig.Device, hub string, run id.Run, told *teller) error {
	answer, lines, err := open(ctx, d, hub+"/api/agent-runs/"+string(run)+"/events", "")
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read to its end
	told.begin("")
	for lines.Scan() {
		data, found := strings.CutPrefix(lines.Text(), "data: ")
		if !found {
			continue
		}
		var e client.CanonicalEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return fmt.Errorf("data %s: %w", data, err)
		}
		told.over(event.Type(e.EventType))
		if err := told.happened(event.Type(e.EventType), e.Payload); err != nil {
			return err
		}
	}
	return lines.Err()
}
