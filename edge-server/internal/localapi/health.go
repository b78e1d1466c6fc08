package localapi

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Condition says whether the edge can take work.
type Condition string

// Conditions of an edge.
const (
	OK      Condition = "ok"
	Unready Condition = "unready"
)

// Health is EdgeHealth of api/edge.yaml. Without the token a caller sees its Status only.
type Health struct {
	Status     Condition `json:"status"`
	Version    string    `json:"version"`
	EdgeID     id.Edge   `json:"edge_id"`
	Uplink     Uplink    `json:"uplink"`
	Journal    Journal   `json:"journal"`
	ActiveRuns int       `json:"active_runs"`
	Profiles   Profiles  `json:"profiles"`
}

// Profiles is EdgeProfiles of api/edge.yaml.
type Profiles struct {
	Offered []string        `json:"offered"` // by name
	Faulty  []FaultyProfile `json:"faulty,omitempty"`
}

// FaultyProfile is EdgeFaultyProfile of api/edge.yaml.
type FaultyProfile struct {
	File     string   `json:"file"`
	Problems []string `json:"problems"`
	Kept     bool     `json:"earlier_version_kept"`
}

// Uplink is EdgeUplink of api/edge.yaml.
type Uplink struct {
	State  string     `json:"state"`
	Code   fault.Code `json:"code,omitempty"`
	Detail string     `json:"detail,omitempty"`
	Since  time.Time  `json:"since"`
}

// Journal is EdgeJournal of api/edge.yaml.
type Journal struct {
	Incarnation wire.Incarnation `json:"incarnation"`
	Floor       wire.ProducerSeq `json:"floor"`
	Head        wire.ProducerSeq `json:"head"`
	Committed   wire.ProducerSeq `json:"committed"`
	Bytes       int64            `json:"bytes"`
}

func healthHandler(token Token, read func() Health) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := read()
		var body any = h
		if !token.in(r) {
			body = struct {
				Status Condition `json:"status"`
			}{h.Status}
		}
		w.Header().Set("Content-Type", "application/json")
		if h.Status != OK {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(body) // the caller may be gone; nobody to tell
	})
}
