package up

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/home"
	"github.com/switchyard-dev/switchyard/shared/durable"
)

// record is up.json: who runs on this state. It outlives a process that is killed, so that the next one can clear up.
type record struct {
	PID     int    `json:"pid"`
	Hub     string `json:"hub,omitempty"`
	Edge    string `json:"edge,omitempty"`
	HubPID  int    `json:"hub_pid,omitempty"`
	EdgePID int    `json:"edge_pid,omitempty"`
}

// open prepares the folder and makes sure that nobody else runs on it.
func open(ctx context.Context, c Config) (*state, error) {
	s := &state{Config: c, started: time.Now()}
	var err error
	if s.State, err = filepath.Abs(c.State); err != nil {
		return nil, fmt.Errorf("find the state folder: %w", err)
	}
	if s.Workspace, err = filepath.Abs(c.Workspace); err != nil {
		return nil, fmt.Errorf("find the workspace: %w", err)
	}
	if info, err := os.Stat(s.Workspace); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the workspace %s is no folder; --workspace names another", c.Workspace)
	}
	for _, dir := range []string{s.State, s.dir("logs")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the state folder: %w", err)
		}
	}
	s.home = home.At(s.dir("yard"))
	if s.lock, err = os.OpenFile(s.dir("up.lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("open the state folder: %w", err)
	}
	before := s.recorded()
	if err := syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		s.lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("a hub and an edge run on %s already (%s, process %d); use them, stop them with Ctrl-C, or give --state another folder",
				s.short(s.State), before.Hub, before.PID)
		}
		return nil, fmt.Errorf("lock the state folder: %w", err)
	}
	s.clearUp(ctx, before)
	s.record = record{PID: os.Getpid()}
	return s, nil
}

func (s *state) close() {
	os.Remove(s.dir("up.json"))
	s.lock.Close()
}

func (s *state) recorded() record {
	var r record
	data, err := os.ReadFile(s.dir("up.json"))
	if err != nil || json.Unmarshal(data, &r) != nil {
		return record{}
	}
	return r
}

func (s *state) save() error {
	data, err := json.Marshal(s.record)
	if err != nil {
		return err
	}
	return wrap(durable.Replace(s.dir("up.json"), append(data, '\n')), "record what runs")
}

// exists says whether there is a file of that name in the state folder.
func (s *state) exists(names ...string) bool {
	_, err := os.Stat(s.dir(names...))
	return !errors.Is(err, fs.ErrNotExist)
}
