package edge

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/edge-server/internal/localapi"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/uplink"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// healthOf gathers what the local API shows.
type healthOf struct {
	version string
	edge    id.Edge
	journal *journal.Journal
	uplink  *uplink.Uplink
	runs    *admission.Admission
	library *profile.Library
}

// read says unready when no work is taken. A lost uplink leaves the edge ready: its runs go on and are journalled.
func (h healthOf) read() localapi.Health {
	link, log := h.uplink.Status(), h.journal.State()
	status := localapi.OK
	if link.State == uplink.Refused || h.journal.Busy() {
		status = localapi.Unready
	}
	return localapi.Health{
		Status: status, Version: h.version, EdgeID: h.edge, ActiveRuns: len(h.runs.LiveRuns()),
		Uplink: localapi.Uplink{State: string(link.State), Code: link.Code, Detail: link.Detail, Since: link.Since.UTC()},
		Journal: localapi.Journal{
			Incarnation: log.Incarnation, Floor: log.Floor, Head: log.Head, Committed: log.Committed(), Bytes: log.Used,
		},
		Profiles: profilesOf(h.library.Current()),
	}
}

// profilesOf leaves the edge ready whatever is wrong with a file: it is one agent's trouble.
func profilesOf(s *profile.Snapshot) localapi.Profiles {
	p := localapi.Profiles{Offered: []string{}}
	for _, one := range s.Profiles.Sorted() {
		p.Offered = append(p.Offered, string(one.Name))
	}
	for _, f := range s.Faulty {
		p.Faulty = append(p.Faulty, localapi.FaultyProfile{File: f.Path, Problems: f.Problems.Strings(), Kept: f.Kept})
	}
	return p
}
