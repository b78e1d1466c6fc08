package up

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/talk"
)

const (
	hubWithin  = 60 * time.Second // a store may have to be upgraded or recovered
	edgeWithin = 30 * time.Second
	sayAfter   = 2 * time.Second
)

// hubAnswers waits until the hub says that it can do its work.
func (s *state) hubAnswers(ctx context.Context) error {
	api, err := client.Anonymous(client.Options{Hub: s.hubURL, UserAgent: "yard/" + s.Version})
	if err != nil {
		return err
	}
	return s.await(ctx, hubWithin, "the hub is starting", func(ctx context.Context) (bool, error) {
		health, err := client.Decode[client.Health](api.GetReadiness(ctx))
		return err == nil && health.Status == client.HealthStatusOk, nil
	})
}

// edgeOnline waits until the hub sees the edge.
func (s *state) edgeOnline(ctx context.Context) error {
	hub, err := s.client()
	if err != nil {
		return err
	}
	own, err := s.edgeID()
	if err != nil {
		return err
	}
	return s.await(ctx, edgeWithin, "the edge is connecting", func(ctx context.Context) (bool, error) {
		edge, err := client.Decode[client.Edge](hub.API().GetEdge(ctx, own))
		if client.CodeOf(err) == client.ProblemCodeNotFound || edge.State == client.EdgeStateRevoked {
			return false, fmt.Errorf("the hub does not know this edge any more; move %s away to start with a new one", s.short(s.dir("edge")))
		}
		return err == nil && edge.State == client.EdgeStateOnline, nil
	})
}

// await waits until ok, and says what is waited for when it takes long.
func (s *state) await(ctx context.Context, limit time.Duration, what string, ok func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s, for more than %v", what, limit))
	defer cancel()
	begun, told := time.Now(), false
	var failed error
	reached := poll(ctx, func() bool {
		if !told && time.Since(begun) > sayAfter {
			s.progress("%s …", what)
			told = true
		}
		done, err := ok(ctx)
		failed = err
		return done || err != nil
	})
	if !reached {
		return context.Cause(ctx)
	}
	return failed
}

// enrol makes the edge an edge of this hub.
func (s *state) enrol(ctx context.Context) error {
	hub, err := s.client()
	if err != nil {
		return err
	}
	made, err := client.Decode[client.Enrolment](hub.API().CreateEnrolment(ctx, &client.CreateEnrolmentParams{IdempotencyKey: talk.Key()},
		client.EnrolmentInput{Name: machine()}))
	if err != nil {
		return fmt.Errorf("make a token for the edge: %w", err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.Programs, "edge-server"), "enrol", "--hub", s.hubURL, "--token", made.Token)
	cmd.Env = append(append([]string{}, s.Environ...), "EDGE_HOME="+s.dir("edge"))
	if out, err := cmd.CombinedOutput(); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("edge-server is not in %s; `make build` makes it", s.Programs)
		}
		return fmt.Errorf("enrol the edge: %w\n%s", err, out)
	}
	return nil
}

func (s *state) edgeID() (client.EdgeID, error) {
	var who struct {
		EdgeID client.EdgeID `json:"edge_id"`
	}
	data, err := os.ReadFile(s.dir("edge", "edge.json"))
	if err == nil {
		err = json.Unmarshal(data, &who)
	}
	if err != nil {
		return "", fmt.Errorf("read the edge's identity: %w", err)
	}
	return who.EdgeID, nil
}

func machine() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "this machine"
	}
	return name
}
