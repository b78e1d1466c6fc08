package edge

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/bridge"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/events"
	"github.com/switchyard-dev/switchyard/edge-server/internal/workspace"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// agents is everything that runs agents.
type agents struct {
	profiles *profile.Library
	host     *process.Host
	executor *runtime.Executor
}

// Folders in EDGE_HOME.
const (
	profileFolder   = "profiles"
	workspaceFolder = "workspaces"
)

// ProfileFolder is where the edge looks for the profiles of agents.
func (c Config) ProfileFolder() string { return filepath.Join(c.Home, profileFolder) }

func newAgents(c Config, who identity, j *journal.Journal, tools runtime.ToolServer, log *slog.Logger, metrics *telemetry.Registry) (agents, error) {
	program, err := os.Executable()
	if err != nil {
		return agents{}, fmt.Errorf("find this program: %w", err)
	}
	here := profile.Edge{Program: program, Lookup: os.LookupEnv}
	profiles, err := profile.Open(c.ProfileFolder(), here, log.With("part", "profiles"))
	if err != nil {
		return agents{}, err
	}
	host := process.NewHost(log.With("part", "processes"), process.DefaultLimits())
	return agents{profiles: profiles, host: host, executor: runtime.NewExecutor(runtime.Options{
		Host: host, Profiles: profiles, Adapters: adapters(), Repository: repository(c),
		Workspaces: workspace.NewStore(filepath.Join(c.Home, workspaceFolder)), Blobs: j, Tools: tools,
		Edge: here, Secrets: []string{who.Credential}, Log: log.With("part", "agents"), Metrics: metrics,
	})}, nil
}

// adapters has one entry per protocol.
func adapters() map[profile.Runtime]runtime.Adapter {
	return map[profile.Runtime]runtime.Adapter{profile.Bridge: bridge.Adapter{}, profile.Events: events.Adapter{}}
}

// repository is what scout reads: the configured folder, else the git repository that the edge was started in.
func repository(c Config) string {
	if c.Repository != "" {
		return c.Repository
	}
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	return workspace.Repository(here)
}
