// Package id names the things that hub and edge talk about. Every id is a type of its own, so that the compiler refuses an
// agent where a run is meant. Ids are opaque to everyone but this package: other code makes them with New…, reads them with
// Parse… and compares them as strings.
//
// Shapes, on every surface: `user_ dev_ edge_ agent_ sess_ msg_ art_ team_ asg_ inv_ conn_ dlv_ ntf_` + UUIDv7 with hyphens;
// `run_` + 16, `evt_` + 20, `req_` + 16, `steer_` + 16, `tr_` + 24 lower-case hex (S0 §3.2).
package id

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// ErrMalformed is what every Parse function wraps: the text is not an id of that kind.
var ErrMalformed = errors.New("malformed id")

// The kinds of id.
type (
	User         string
	Device       string
	Edge         string
	Agent        string
	Session      string
	Message      string
	Artifact     string
	Attachment   string
	Invitation   string
	Connection   string
	Delivery     string
	Notification string
	Run          string
	Event        string
	Request      string
	Steer        string // what is said to a run while it works
	Trace        string
)

const (
	userPrefix         = "user_"
	devicePrefix       = "dev_"
	edgePrefix         = "edge_"
	agentPrefix        = "agent_"
	sessionPrefix      = "sess_"
	messagePrefix      = "msg_"
	artifactPrefix     = "art_"
	attachmentPrefix   = "att_"
	invitationPrefix   = "inv_"
	connectionPrefix   = "conn_"
	deliveryPrefix     = "dlv_"
	notificationPrefix = "ntf_"
	runPrefix          = "run_"
	eventPrefix        = "evt_"
	requestPrefix      = "req_"
	steerPrefix        = "steer_"
	tracePrefix        = "tr_"

	runHex     = 16
	eventHex   = 20
	requestHex = 16
	steerHex   = 16
	traceHex   = 24
)

// NewUser and its siblings make an id that no other call will make again.
func NewUser() User                 { return User(newUUID(userPrefix)) }
func NewDevice() Device             { return Device(newUUID(devicePrefix)) }
func NewEdge() Edge                 { return Edge(newUUID(edgePrefix)) }
func NewAgent() Agent               { return Agent(newUUID(agentPrefix)) }
func NewSession() Session           { return Session(newUUID(sessionPrefix)) }
func NewMessage() Message           { return Message(newUUID(messagePrefix)) }
func NewArtifact() Artifact         { return Artifact(newUUID(artifactPrefix)) }
func NewAttachment() Attachment     { return Attachment(newUUID(attachmentPrefix)) }
func NewInvitation() Invitation     { return Invitation(newUUID(invitationPrefix)) }
func NewConnection() Connection     { return Connection(newUUID(connectionPrefix)) }
func NewDelivery() Delivery         { return Delivery(newUUID(deliveryPrefix)) }
func NewNotification() Notification { return Notification(newUUID(notificationPrefix)) }
func NewRun() Run                   { return Run(newHex(runPrefix, runHex)) }
func NewEvent() Event               { return Event(newHex(eventPrefix, eventHex)) }
func NewRequest() Request           { return Request(newHex(requestPrefix, requestHex)) }
func NewSteer() Steer               { return Steer(newHex(steerPrefix, steerHex)) }
func NewTrace() Trace               { return Trace(newHex(tracePrefix, traceHex)) }

// ParseUser and its siblings accept exactly the shape that the New function makes; the error wraps ErrMalformed.
func ParseUser(s string) (User, error)             { return parseUUID[User](s, userPrefix) }
func ParseDevice(s string) (Device, error)         { return parseUUID[Device](s, devicePrefix) }
func ParseEdge(s string) (Edge, error)             { return parseUUID[Edge](s, edgePrefix) }
func ParseAgent(s string) (Agent, error)           { return parseUUID[Agent](s, agentPrefix) }
func ParseSession(s string) (Session, error)       { return parseUUID[Session](s, sessionPrefix) }
func ParseMessage(s string) (Message, error)       { return parseUUID[Message](s, messagePrefix) }
func ParseArtifact(s string) (Artifact, error)     { return parseUUID[Artifact](s, artifactPrefix) }
func ParseAttachment(s string) (Attachment, error) { return parseUUID[Attachment](s, attachmentPrefix) }
func ParseInvitation(s string) (Invitation, error) { return parseUUID[Invitation](s, invitationPrefix) }
func ParseConnection(s string) (Connection, error) { return parseUUID[Connection](s, connectionPrefix) }
func ParseDelivery(s string) (Delivery, error)     { return parseUUID[Delivery](s, deliveryPrefix) }
func ParseNotification(s string) (Notification, error) {
	return parseUUID[Notification](s, notificationPrefix)
}
func ParseRun(s string) (Run, error)         { return parseHex[Run](s, runPrefix, runHex) }
func ParseEvent(s string) (Event, error)     { return parseHex[Event](s, eventPrefix, eventHex) }
func ParseRequest(s string) (Request, error) { return parseHex[Request](s, requestPrefix, requestHex) }
func ParseSteer(s string) (Steer, error)     { return parseHex[Steer](s, steerPrefix, steerHex) }
func ParseTrace(s string) (Trace, error)     { return parseHex[Trace](s, tracePrefix, traceHex) }

func newUUID(prefix string) string {
	return prefix + uuid.Must(uuid.NewV7()).String()
}

func newHex(prefix string, digits int) string {
	raw := make([]byte, digits/2)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	return prefix + hex.EncodeToString(raw)
}

func parseUUID[T ~string](s, prefix string) (T, error) {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok || len(rest) != 36 || rest != strings.ToLower(rest) {
		return "", fmt.Errorf("%w: want %s<uuid>", ErrMalformed, prefix)
	}
	if _, err := uuid.Parse(rest); err != nil {
		return "", fmt.Errorf("%w: want %s<uuid>", ErrMalformed, prefix)
	}
	return T(s), nil
}

func parseHex[T ~string](s, prefix string, digits int) (T, error) {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok || len(rest) != digits || strings.Trim(rest, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%w: want %s and %d hex digits", ErrMalformed, prefix, digits)
	}
	return T(s), nil
}
