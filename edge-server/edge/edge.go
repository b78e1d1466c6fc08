// Package edge puts an edge-server together from its parts. Nobody imports it but the command.
package edge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/edge-server/internal/localapi"
	"github.com/switchyard-dev/switchyard/edge-server/internal/mcptools"
	"github.com/switchyard-dev/switchyard/edge-server/internal/uplink"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// Run serves until ctx ends, then stops in order: no more local answers, agents ended and their runs reported, the last rows committed by
// the hub if it is there, the journal closed. version is shown to the hub.
func Run(ctx context.Context, c Config, version string, log *slog.Logger) (err error) {
	who, err := readIdentity(c.Home)
	if err != nil {
		return err
	}
	metrics := telemetry.NewRegistry("switchyard_edge")
	metrics.Build(version)
	j, err := journal.Open(ctx, journal.Options{
		Home: c.Home, Cap: c.JournalCap, Window: c.ResendWindow, Log: log.With("part", "journal"), Metrics: metrics,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	parts, err := assemble(ctx, c, who, version, j, log, metrics)
	if err != nil {
		return err
	}
	if plaintext(who.forUplink(c).HubURL) {
		log.Warn("the way to the hub is not encrypted: use an https address unless the network is yours alone")
	}
	log.Info("edge starts", "edge", who.EdgeID, "version", version, "home", c.Home)
	return supervise.Run(ctx, log, c.StopTimeout, parts...)
}

// assemble makes the parts in the order in which they start; they stop in reverse. The uplink lives longer than admission, so that the hub
// hears how runs ended, and the journal longer than both; that is why the uplink starts first and waits for admission to be ready.
func assemble(
	ctx context.Context, c Config, who identity, version string, j *journal.Journal, log *slog.Logger, metrics *telemetry.Registry,
) ([]supervise.Part, error) {
	tools := mcptools.New(version)
	agents, err := newAgents(c, who, j, tools, log, metrics)
	if err != nil {
		return nil, err
	}
	runs := admission.New(admission.Options{
		Edge: who.EdgeID, Journal: j, Executor: agents.executor, Profiles: agents.executor, Sweeper: agents.executor, Places: c.Places,
		Log: log.With("part", "admission"), Metrics: metrics,
	})
	link, err := uplink.New(uplink.Options{
		Identity: who.forUplink(c), Version: version, Hostname: hostname(), Profiles: agents.executor,
		Journal: j, Commands: runs, Log: log.With("part", "uplink"), Metrics: metrics,
	})
	if err != nil {
		return nil, err
	}
	token, err := localapi.LoadToken(c.Home)
	if err != nil {
		return nil, err
	}
	health := healthOf{version: version, edge: who.EdgeID, journal: j, uplink: link, runs: runs, library: agents.profiles}
	local, err := localapi.Listen(ctx, localapi.Options{
		Addr: c.Addr, Token: token, Origins: c.trusted(), Edge: who.EdgeID, Journal: j, Health: health.read, Tools: tools, Metrics: metrics,
		Log: log.With("part", "local API"),
	})
	if err != nil {
		return nil, fmt.Errorf("EDGE_ADDR: %w", err)
	}
	tools.ReachedAt(local.Addr())
	if err := localapi.NoteAddress(c.Home, local.Addr()); err != nil {
		return nil, err
	}
	log.Info("local API listens", "addr", local.Addr())
	return []supervise.Part{
		{Name: "journal", Run: j.Run},
		{Name: "journal maintenance", Run: j.Maintain},
		{Name: "profiles", Run: agents.profiles.Run},
		{Name: "uplink", Run: link.Run},
		{Name: "processes", Run: agents.host.Run},
		{Name: "admission", Run: runs.Run, Ready: runs.Ready()},
		{Name: "local API", Run: local.Run},
	}, nil
}

// plaintext says whether somebody on the way to the hub could read along.
func plaintext(hubURL string) bool {
	hub, err := uplink.ParseHubURL(hubURL)
	return err == nil && hub.Scheme == "http" && localapi.CheckAddr(net.JoinHostPort(hub.Hostname(), "0")) != nil
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "unknown"
	}
	return name
}
