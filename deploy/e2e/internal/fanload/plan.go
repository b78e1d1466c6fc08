// Package fanload is the client side of the fan-out benchmark: one lean program that speaks to our hub and to Centrifugo in the same way, so that
// what is compared is the servers. It has a process of its own (cmd/fanload), told what to do by a Plan.
package fanload

import (
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// Dialects.
const (
	Hub        = "hub"
	Centrifugo = "centrifugo"
)

// Work that a load process can be asked for.
const (
	Fan    = "fan"    // publish to all subscribers: flat out within Window, or PerSecond
	Post   = "post"   // publish over HTTP by Posters, as fast as they can, or one of them PerSecond
	Idle   = "idle"   // connect all subscribers and look at the memory of the server
	Return = "return" // cut Returning of the subscribers off, let them miss messages, and bring them back
)

// Plan is what a load process does. Its JSON is what the process reads.
type Plan struct {
	Dialect     string `json:"dialect"`
	Work        string `json:"work"`
	Server      string `json:"server"` // base URL
	PID         int    `json:"pid"`    // of the server's process
	Roots       string `json:"-"`      // file of the certificates that the load process trusts; "": the system's
	Subscribers int    `json:"subscribers"`

	Window    int           `json:"window"`     // messages that may be under way to each subscriber
	PerSecond int           `json:"per_second"` // messages; 0: flat out
	Posters   int           `json:"posters"`
	Returning int           `json:"returning"`
	Missed    int           `json:"missed"` // messages that each of those misses
	WarmUp    time.Duration `json:"warm_up"`
	Span      time.Duration `json:"span"`

	// The hub's own.
	Tokens    []string           `json:"tokens,omitempty"` // access tokens, one for each subscriber
	Owner     client.Credentials `json:"owner"`
	Enrolment string             `json:"enrolment,omitempty"` // token of an edge that publishes
	People    []string           `json:"people,omitempty"`    // ids
	Session   string             `json:"session,omitempty"`   // that Posters post to
}

// Result is what came of a plan. What does not belong to its work is 0.
type Result struct {
	Published  int64         `json:"published"` // in the measured span, as are the next four
	Delivered  int64         `json:"delivered"`
	Span       time.Duration `json:"span"`
	ServerCPU  time.Duration `json:"server_cpu"` // user and system time of the server's process
	ClientCPU  time.Duration `json:"client_cpu"`
	P50        time.Duration `json:"p50"` // publish to receive
	P99        time.Duration `json:"p99"`
	Connecting time.Duration `json:"connecting"` // all subscribers

	IdleHeap     float64 `json:"idle_heap"`     // bytes of heap and stacks in use for each subscriber, after a collection
	IdleResident float64 `json:"idle_resident"` // bytes of resident memory for each subscriber

	Back      time.Duration `json:"back"`       // until the last one had everything
	P99During time.Duration `json:"p99_during"` // of those who stayed
}

// Rate is deliveries a second.
func (r Result) Rate() float64 { return float64(r.Delivered) / r.Span.Seconds() }

// CPU is seconds of the server for a million deliveries.
func (r Result) CPU() float64 { return r.ServerCPU.Seconds() / float64(r.Delivered) * 1e6 }
