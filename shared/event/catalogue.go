package event

import "slices"

// Terminal says whether the event ends its run. A run has at most one.
func (t Type) Terminal() bool {
	switch t {
	case RunCompleted, RunFailed, RunCancelled, RunInterrupted:
		return true
	}
	return false
}

// LastOfEdge says whether an edge has nothing more to tell of the run after the event: its terminal, or the end of a process whose run goes
// on waiting for a person.
func (t Type) LastOfEdge() bool { return t.Terminal() || t == RunProcessEnded }

// Droppable says whether an edge that is running out of disk may shed the event (architecture 6.6).
func (t Type) Droppable() bool {
	switch t {
	case RunOutputBatch, SessionMetrics, "run.agent.context_usage", RateLimit, TaskProgress, StatusChange, "run.agent.hook_progress":
		return true
	}
	return false
}

// Appenders says who may put the event into a run's log. A type that the catalogue does not know comes from an edge: its agent is newer
// than this code.
func (t Type) Appenders() Appender {
	switch t {
	case RunCancelling, RunRowRefused, RunLogGap, RunLateOutcome, PromptExpired, RunNotice, RunCardOrphaned,
		RunSteered, SteerWithdrawn, RunImported:
		return ByHub
	case RunStarted, RunCompleted, RunFailed, RunCancelled, RunInterrupted, MessageDone, ToolFailed, PromptRequested, PromptAnswered:
		return ByEdge | ByHub
	}
	return ByEdge
}

// Has says whether all of who is in a.
func (a Appender) Has(who Appender) bool { return a&who == who }

// Rows returns the whole catalogue in the order of api/events.md: our own events first, then names of S3's inventory that are
// reserved and carried unread.
func Rows() []Row {
	rows := ownRows()
	for _, r := range reservedRows() {
		rows = append(rows, complete(r))
	}
	return rows
}

// ByStored returns the row of a stored type; false for a type that the catalogue does not know.
func ByStored(t Type) (Row, bool) {
	for _, r := range Rows() {
		if r.Stored == t {
			return r, true
		}
	}
	return Row{}, false
}

// ByWire returns the rows that share a wire name: two for a tool result, none for an unknown name.
func ByWire(w WireType) []Row {
	var found []Row
	for _, r := range Rows() {
		if r.Wire == w || slices.Contains(OtherWires(r.Stored), w) {
			found = append(found, r)
		}
	}
	return found
}

// complete fills the columns of a row that follow from its stored type.
func complete(r Row) Row {
	r.Wire = Wire(r.Stored)
	r.By = r.Stored.Appenders()
	r.Droppable = r.Stored.Droppable()
	r.Terminal = r.Stored.Terminal()
	r.Legal = r.Stored.Legal()
	return r
}

func ownRows() []Row {
	rows := []Row{
		{Stored: RunQueued, Producer: "turns", Meaning: "The edge has taken the run and lets it wait for a free place."},
		{Stored: RunStarted, Producer: "normaliser, import", Meaning: "The agent process is running. The first event of an ordinary run."},
		{Stored: RunCheckpoint, Producer: "agent", Meaning: "The agent reached a point that it can resume from."},
		{Stored: RunOutputBatch, Producer: "process", Meaning: "Raw lines of the process, gathered from stdout or stderr."},
		{Stored: RunCancelling, Producer: "cancel", Meaning: "Somebody asked for the run to stop."},
		{Stored: RunCompleted, Producer: "normaliser, import", Meaning: "The agent finished its work."},
		{Stored: RunFailed, Producer: "normaliser, closer", Meaning: "The run ended with an error."},
		{Stored: RunCancelled, Producer: "normaliser, closer", Meaning: "The run was stopped because somebody asked."},
		{Stored: RunInterrupted, Producer: "recovery, watch, force", Meaning: "The run was cut off and nobody knows how far its last step got."},
		{Stored: RunLateOutcome, Producer: "commit", Meaning: "A second outcome that came after the run had ended. Changes nothing."},
		{Stored: RunRowRefused, Producer: "commit", Meaning: "A row of the edge could not be applied and lies in quarantine; this takes its place."},
		{Stored: RunLogGap, Producer: "commit", Meaning: "Rows of the edge are missing for good."},
		{Stored: MessageStarted, Producer: "normaliser", Meaning: "The agent begins to say something."},
		{Stored: MessageDelta, Producer: "normaliser", Meaning: "The next piece of the message's text."},
		{Stored: MessageDone, Producer: "normaliser, closer", Meaning: "The message is whole: its text and the checksum of it."},
		{Stored: ToolStarted, Producer: "normaliser", Meaning: "The agent calls a tool."},
		{Stored: ToolCompleted, Producer: "normaliser", Meaning: "The tool returned."},
		{Stored: ToolFailed, Producer: "normaliser, closer", Meaning: "The tool failed, or the run ended before it returned."},
		{Stored: ArtifactCreated, Producer: "artifacts", Meaning: "The run produced a file; its bytes are on the hub."},
		{Stored: Thinking, Producer: "normaliser", Meaning: "The next piece of the agent's reasoning: a channel of its own beside the message's text, or with an empty `message_id` outside of any message."},
		{Stored: ToolInput, Producer: "normaliser", Meaning: "The next piece of a tool call's arguments while the model writes them: a channel beside the message's text."},
		{Stored: ToolOutput, Producer: "normaliser", Meaning: "The next piece of what an open tool call puts out; its result has all of it again."},
		{Stored: SessionInit, Producer: "adapter", Meaning: "The agent named its own session, by which it can be resumed, and perhaps with what its model runs."},
		{Stored: SessionState, Producer: "normaliser", Meaning: "The agent reports a state of its own."},
		{Stored: AgentResult, Producer: "adapter", Meaning: "What the agent says about its work: usage, exit code."},
		{Stored: SessionMetrics, Producer: "agent", Meaning: "Counters of the agent while it works."},
		{Stored: PromptRequested, Producer: "prompts", Meaning: "The agent, or the hub about its work, asks. It waits when a person is asked."},
		{Stored: PromptAnswered, Producer: "prompts", Meaning: "What was answered, and by whom."},
		{Stored: PromptExpired, Producer: "expiry", Meaning: "Nobody has answered in time; the agent is told so."},
		{Stored: PromptDelivered, Producer: "prompts", Meaning: "A person's answer has reached the agent, and the agent went on."},
		{Stored: RunProcessEnded, Producer: "turns", Meaning: "The agent process has ended, but people were asked: the run waits for them all the same."},
		{Stored: RunNotice, Producer: "watch", Meaning: "Something about the edge or its runtimes that the people of the conversation should know; once while it lasts."},
		{Stored: RunCardOrphaned, Producer: "watchdog", Meaning: "Nothing was heard of a card for longer than its kind may be silent: it counts as failed."},
		{Stored: RunSteered, Producer: "steering", Meaning: "Somebody said something to the agent while it works; it has not got it yet."},
		{Stored: SteerWithdrawn, Producer: "steering", Meaning: "What was said to the agent while it works is taken back; it has not taken it."},
		{Stored: RunImported, Producer: "import", Meaning: "A line of a trace that somebody brought: one OmniMessage of an agent that ran elsewhere."},
	}
	rows = append(rows, agentFactRows()...)
	for i := range rows {
		rows[i] = complete(rows[i])
	}
	return rows
}
