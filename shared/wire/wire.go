// Package wire is what an edge and a hub say to each other on the uplink (architecture 6.5): `hello` → `welcome` → frames →
// `committed_to`, commands down and receipts up. Control messages are JSON; a frame of journal rows is binary, so that row
// bytes are never re-encoded. Both sides accept unknown JSON fields.
package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Protocol is the version of the uplink that this code speaks. A hub answers another one with Refused.
const Protocol = 1

// Names and numbers of the uplink.
type (
	Incarnation string // 16 hex: one journal file's numbering
	BootNonce   string // 16 hex: one start of an edge process
	Epoch       string // 16 hex: one life of a hub store
	ProducerSeq uint64 // place in the journal: from 1 without holes per (edge, incarnation)
	Generation  uint64 // raised by each welcome and each rewind
	Lease       uint64 // raised by each dispatch of a run
)

// Chain is the running hash of a journal: SHA-256(previous ‖ row bytes); zero before row 1. Its text form is 64 hex digits.
type Chain [sha256.Size]byte

// Next returns the chain value after row.
func (c Chain) Next(row []byte) Chain {
	h := sha256.New()
	h.Write(c[:])
	h.Write(row)
	return Chain(h.Sum(nil))
}

// MarshalText and UnmarshalText give the hex form.
func (c Chain) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, c[:]), nil }

// UnmarshalText accepts exactly 64 hex digits.
func (c *Chain) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(c)) {
		return hex.ErrLength
	}
	_, err := hex.Decode(c[:], text)
	return err
}

// Hello opens the uplink on a fresh connection.
type Hello struct {
	Protocol    int            `json:"protocol"`
	Incarnation Incarnation    `json:"incarnation"`
	BootNonce   BootNonce      `json:"boot_nonce"`
	Floor       ProducerSeq    `json:"floor"`       // lowest row still kept; Head+1 when none is
	FloorChain  Chain          `json:"floor_chain"` // chain value before row Floor: where a hub that lost earlier rows goes on
	Head        ProducerSeq    `json:"head"`        // highest row written; 0 when none
	Committed   *CommitReceipt `json:"committed,omitempty"`
	Version     string         `json:"version"`
	Hostname    string         `json:"hostname,omitempty"`
	Profiles    []Profile      `json:"profiles"`
	LiveRuns    []id.Run       `json:"live_runs"`          // runs whose process this edge holds or whose start is still pending
	Shows       bool           `json:"shows,omitempty"`    // the edge answers Show; one that is older does not
	Controls    bool           `json:"controls,omitempty"` // the edge takes Control commands and approval modes; one that is older does not
}

// Profile is something an edge can run: the capability that agents are bound to.
type Profile struct {
	Name        string `json:"name"`
	Runtime     string `json:"runtime"` // bridge | events
	Description string `json:"description,omitempty"`
	// Controls are what runs of it can be told while they work, in the words of ControlKind, and ThinkingLevels if turns may have a level.
	Controls []string `json:"controls,omitempty"`
}

// Capabilities says on an open connection that what the edge can run is another than its hello said.
type Capabilities struct {
	Profiles []Profile `json:"profiles"`
}

// MaxProfiles is how many profiles a hub takes from one edge: the first ones.
const MaxProfiles = 256

// Show asks the edge for the start commands of runs that it has rows of and the hub's store does not know: a backup was restored that is older
// than they are. Each is answered by a Shown; rows that name them wait.
type Show struct {
	Runs []id.Run `json:"runs"`
}

// Shown answers Show for one run: with the command as it came, signature included, or with none when the edge does not have it.
type Shown struct {
	RunID   id.Run   `json:"run_id"`
	Command *Command `json:"command,omitempty"`
}

// CommitReceipt is the hub's signed word that it holds all rows up to Seq. The edge keeps the newest and shows it in Hello;
// a valid receipt newer than the store proves that the store was rolled back.
type CommitReceipt struct {
	Incarnation Incarnation `json:"incarnation"`
	Seq         ProducerSeq `json:"seq"`
	Chain       Chain       `json:"chain"` // chain value after row Seq
	Epoch       Epoch       `json:"epoch"`
	Signature   string      `json:"signature"` // hex HMAC-SHA256 by the hub over edge id and the fields above
}

// Welcome answers Hello. The edge compares Chain with its own value at Watermark: if it differs, or its Head is below, the
// journal was restored or cloned and it begins a new incarnation.
type Welcome struct {
	Incarnation Incarnation `json:"incarnation,omitempty"` // of the hello that it answers; a hub that is older does not say
	Watermark   ProducerSeq `json:"watermark"`             // highest row the hub holds
	Chain       Chain       `json:"chain"`                 // chain value after row Watermark
	Credit      int64       `json:"credit"`                // bytes of rows the edge may have sent but not committed
	Generation  Generation  `json:"generation"`
	Epoch       Epoch       `json:"epoch"`
	MaxFrame    int         `json:"max_frame"` // bytes of rows in a frame, unless a single row is larger
}

// CommittedTo says that all rows up to Receipt.Seq are on the hub's disk.
type CommittedTo struct {
	Receipt CommitReceipt `json:"receipt"`
	Credit  int64         `json:"credit"`
}

// Rewind asks the edge to send again from From, with the new generation. The hub sends one per generation.
type Rewind struct {
	Generation Generation  `json:"generation"`
	From       ProducerSeq `json:"from"`
}

// NeedBlob is the code of a Refused that asks for bytes before the rows that name them; Detail is the hash.
const NeedBlob = fault.BlobMissing

// Refused ends this connection: the edge shows the reason and, if Retry, comes back with backoff.
type Refused struct {
	Code   fault.Code `json:"code"`
	Detail string     `json:"detail"`
	Retry  bool       `json:"retry"`
}

// Ping is answered by a Pong with the same nonce. Either side's silence of 15 s closes the connection.
type Ping struct {
	Nonce uint64 `json:"nonce"`
}

// Pong answers Ping.
type Pong struct {
	Nonce uint64 `json:"nonce"`
}

// Kind says what a Command asks for.
type Kind string

// Kinds of command. An edge answers one it does not know with Unsupported.
const (
	Start        Kind = "start"
	Cancel       Kind = "cancel"
	AnswerPrompt Kind = "answer"
	Control      Kind = "control" // for a run that is at work
)

// Command is one order from the hub. Body is a Dispatch for start, a CancelOrder for cancel, an Answer for answer and a ControlOrder for
// control. Signature is the hub's HMAC over edge, delivery, kind, run, lease and body bytes: the edge keeps the whole command in its admission row and can show it later.
type Command struct {
	DeliveryID id.Delivery     `json:"delivery_id"`
	Kind       Kind            `json:"kind"`
	RunID      id.Run          `json:"run_id"`
	Lease      Lease           `json:"lease"`
	Body       json.RawMessage `json:"body"` // as json.Marshal wrote it, so that writing the command keeps the signed bytes
	Signature  string          `json:"signature"`
}

// Dispatch is the body of a start.
type Dispatch struct {
	TaskID        id.Run     `json:"task_id"`
	SessionID     id.Session `json:"session_id"`
	AgentID       id.Agent   `json:"agent_id"`
	AgentName     string     `json:"agent_name"`
	Profile       string     `json:"profile"`
	Runtime       string     `json:"runtime"`
	Prompt        string     `json:"prompt"` // may be empty when there are attachments
	SessionName   string     `json:"session_name,omitempty"`
	TriggerID     id.Message `json:"trigger_message_id,omitempty"`
	TriggerUserID id.User    `json:"trigger_user_id"`
	TraceID       string     `json:"trace_id"` // 32 hex
	CreatedAt     time.Time  `json:"created_at"`
	// Attachments belong to the prompt; CheckAttachments says what they may be. An edge that is older than they are does not pass them on.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Manner belongs to the prompt too, and to the turns that continue it. An edge that is older does not pass it on.
	Manner
	// ClientTools are what clients of the person who triggered the run carry out for the agent (S0 §9.2); CheckClientTools says what they may be. An
	// edge that is older does not pass them on.
	ClientTools []ClientTool `json:"client_tools,omitempty"`
	Continues   *Continues   `json:"continues,omitempty"` // an earlier run of the same agent session, which ended waiting
	// ApprovalMode is that of the person who triggered the run; "" leaves its permissions to the profile. An edge that is older leaves them in any case.
	ApprovalMode ApprovalMode `json:"approval_mode,omitempty"`
	// Compact asks the agent to make its model's context shorter and for nothing else: Prompt is empty then. ThinkingLevel is how hard the model should
	// think in this turn; "" is the agent's to choose. Both are for profiles that name the control.
	Compact       bool          `json:"compact,omitempty"`
	ThinkingLevel ThinkingLevel `json:"thinking_level,omitempty"`
}

// CancelOrder is the body of a cancel.
type CancelOrder struct {
	RequestedBy id.User   `json:"requested_by"`
	RequestedAt time.Time `json:"requested_at"`
}

// Status is how an edge received a command. It says nothing about how the run will end.
type Status string

// Receipt statuses.
const (
	Accepted    Status = "accepted"
	Rejected    Status = "rejected"
	Unsupported Status = "unsupported"
)

// CommandReceipt answers a Command once the journal holds it; a repeated command gets the recorded receipt.
type CommandReceipt struct {
	DeliveryID id.Delivery `json:"delivery_id"`
	RunID      id.Run      `json:"run_id"`
	Status     Status      `json:"status"`
	Code       fault.Code  `json:"code,omitempty"`
	Detail     string      `json:"detail,omitempty"`
}
