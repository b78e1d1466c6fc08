package tsgen

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

const cardsHeader = "// Generated from shared/card and api/openapi.yaml: change it there, then `make generate`.\n\n"

// words is a type of shared/card that has a few values.
type words struct {
	doc, list string
	all       []any
}

// vocabulary has the words of the card protocol, in the order in which they are written.
var vocabulary = []words{
	{"What a client does with an event (S0 §4).", "CARD_TYPES", list(card.Types()...)},
	{"What a card stands for (S0 §5).", "CARD_KINDS", list(card.Kinds()...)},
	{"How a card ended (S0 §6.5).", "CARD_STATUSES", list(card.OK, card.Failed, card.Skipped, card.Cancelled)},
	{"What an append adds to (S0 §6.3).", "CARD_CHANNELS", list(card.TextChannel, card.ToolInputChannel, card.ThinkingChannel)},
	{"What a tick tells (S0 §6.4).", "CARD_TICK_KINDS", list(card.TickKinds()...)},
	{"Who an agent is to the person (S0 §3.2).", "CARD_ROLES", list(card.Persona, card.Orchestrator, card.Worker, card.SystemRole)},
	{"How severe an event is.", "CARD_SEVERITIES", list(card.Info, card.Warn, card.Error)},
	{"How a card is first shown.", "CARD_INITIAL_STATES", list(card.Expanded, card.Collapsed, card.Hidden)},
	{"How far a tool card has come.", "CARD_PHASES", list(card.Planning, card.PlanningArgs, card.Queued, card.PermissionWait, card.Executing)},
	{"What a session.event tells (S0 §8).", "CARD_SESSION_KINDS", list(card.SessionKinds()...)},
	{"Why a trace cannot be gone on with.", "CARD_RESUME_REASONS", list(card.EventsExpired, card.UnknownTrace, card.SessionNotFound)},
	{"How a question ended (S0 §7.2).", "CARD_REPLY_DECISIONS", list(card.Approved, card.Denied, card.TimedOut, card.ReplyCancelled)},
	{"What kind of failure it is; one that is not known is taken as internal (S0 §12).", "CARD_ERROR_TYPES", list(card.ErrorTypes()...)},
	{"What a part of a message is.", "CARD_BLOCK_TYPES", list(card.TextBlock, card.ImageBlock, card.FileBlock)},
	{"Where the bytes of a part are. A hub refuses some.", "CARD_SOURCE_TYPES", list(card.PathSource, card.URLSource, card.DataSource, card.UploadSource)},
}

func list[T any](values ...T) []any {
	all := make([]any, len(values))
	for i, value := range values {
		all[i] = value
	}
	return all
}

// cardFrames are what a client may say, without what a connection says by itself.
var cardFrames = []card.ClientFrame{
	card.SessionCreate{}, card.UserMessage{}, card.UserInject{}, card.ToolResult{}, card.PromptResponse{}, card.SessionInterrupt{}, card.SessionResume{},
}

// cards writes the vocabulary of /v1/ws: words, shapes, close codes.
func cards(doc *openapi3.T) ([]byte, error) {
	p := &page{}
	p.WriteString(cardsHeader)
	p.line("/** The version of the protocol that session.event(opened) says. */")
	p.line("export const CARD_PROTOCOL = %q;\n", card.ProtocolVersion)
	p.line("/** The type of the bare frame that answers a ping. */")
	p.line("export const CARD_PONG = %q;\n", card.PongType)
	for _, w := range vocabulary {
		p.comment("", w.doc)
		p.line("export const %s = [%s] as const;", w.list, strings.Join(spelled(w.all), ", "))
		p.line("export type %s = (typeof %s)[number];\n", nameOf(reflect.TypeOf(w.all[0])), w.list)
	}
	s := &shapes{page: p}
	s.tables()
	s.frames()
	s.all()
	s.checks()
	codes, err := extension[map[string]closing](doc.Paths.Find("/v1/ws").Get.Extensions, "x-close-codes")
	if err != nil {
		return nil, err
	}
	writeCardCodes(p, codes)
	return p.Bytes(), nil
}

func spelled(values []any) []string {
	all := make([]string, len(values))
	for i, value := range values {
		all[i] = fmt.Sprintf("%q", value)
	}
	return all
}

func writeCardCodes(p *page, codes map[string]closing) {
	p.line("/** What a client does after a close code of /v1/ws. */")
	p.line("export const AFTER_CARD_CLOSE: Readonly<Record<number, \"resume\" | \"wait\" | \"login\" | \"stay_away\">> = {")
	names := sortedKeys(codes)
	slices.SortFunc(names, func(a, b string) int { return codes[a].Code - codes[b].Code })
	for _, name := range names {
		p.comment("  ", codes[name].Description)
		p.line("  %d: %q,", codes[name].Code, codes[name].Then)
	}
	p.line("};")
}

// actions, ticks, tells, asks and kinds say which struct belongs to which word.
var (
	actions = []shape{
		{card.Append, card.AppendPayload{}}, {card.Tick, card.TickPayload{}}, {card.Close, card.ClosePayload{}},
		{card.PromptUser, card.PromptPayload{}}, {card.PromptReply, card.ReplyPayload{}}, {card.SessionEvent, card.SessionPayload{}},
	}
	ticks = []shape{
		{card.Progress, card.ProgressTick{}}, {card.Heartbeat, card.HeartbeatTick{}}, {card.Intent, card.IntentTick{}}, {card.Note, card.NoteTick{}},
		{card.Escalation, card.EscalationTick{}},
	}
	tells = []shape{
		{card.Opened, card.OpenedInner{}}, {card.Updated, card.UpdatedInner{}}, {card.SessionError, card.ErrorInner{}},
		{card.Resumed, card.ResumedInner{}}, {card.ResumeFailed, card.ResumeFailedInner{}},
	}
	asks = []shape{
		{event.PromptPermission, card.Permission{}}, {event.PromptQuestion, event.Question{}}, {event.PromptPlanReview, event.PlanReview{}},
		{event.PromptStepDecision, event.StepDecision{}},
	}
	kinds = []shape{
		{card.Turn, card.TurnPayload{}}, {card.Message, card.MessagePayload{}}, {card.Tool, card.ToolPayload{}}, {card.Agent, card.AgentPayload{}},
		{card.Plan, card.PlanPayload{}}, {card.Step, card.StepPayload{}}, {card.Artifact, card.ArtifactPayload{}}, {card.Thinking, card.ThinkingPayload{}},
		{card.MemoryOp, card.MemoryOpPayload{}}, {card.Budget, card.BudgetPayload{}}, {card.Todo, card.TodoPayload{}}, {card.Team, card.TeamPayload{}},
		{card.System, card.SystemPayload{}},
	}
)

// shape is the struct that belongs to a word.
type shape struct {
	word any
	body any
}
