package event

// payloadOf returns the zero value of the struct that an event's payload has, nil for one that is opaque to us.
func payloadOf(t Type) any {
	switch t {
	case RunQueued:
		return RunQueuedPayload{}
	case RunStarted:
		return RunStartedPayload{}
	case RunOutputBatch:
		return OutputBatchPayload{}
	case MessageStarted:
		return MessageStartedPayload{}
	case MessageDelta, Thinking:
		return DeltaPayload{}
	case MessageDone:
		return MessageCompletedPayload{}
	case ArtifactCreated:
		return ArtifactCreatedPayload{}
	case SessionInit:
		return SessionInitPayload{}
	case SessionState:
		return SessionStatePayload{}
	case AgentResult:
		return AgentResultPayload{}
	}
	for _, of := range []func(Type) any{toolPayloadOf, promptPayloadOf, watchPayloadOf, agentFactOf} {
		if p := of(t); p != nil {
			return p
		}
	}
	return endingPayloadOf(t)
}

func toolPayloadOf(t Type) any {
	switch t {
	case ToolInput:
		return ToolInputPayload{}
	case ToolOutput:
		return ToolOutputPayload{}
	case ToolStarted:
		return ToolStartedPayload{}
	case ToolCompleted:
		return ToolCompletedPayload{}
	case ToolFailed:
		return ToolFailedPayload{}
	}
	return nil
}

func promptPayloadOf(t Type) any {
	switch t {
	case PromptRequested:
		return PromptRequestedPayload{}
	case PromptAnswered:
		return PromptAnsweredPayload{}
	case PromptExpired:
		return PromptExpiredPayload{}
	case PromptDelivered:
		return PromptDeliveredPayload{}
	}
	return nil
}

func watchPayloadOf(t Type) any {
	switch t {
	case RunNotice:
		return NoticePayload{}
	case RunCardOrphaned:
		return CardOrphanedPayload{}
	case RunSteered:
		return SteeredPayload{}
	case SteerWithdrawn:
		return SteerWithdrawnPayload{}
	case RunImported:
		return ImportedPayload{}
	}
	return nil
}

func endingPayloadOf(t Type) any {
	switch t {
	case RunProcessEnded:
		return ProcessEndedPayload{}
	case RunCancelling:
		return RunCancellingPayload{}
	case RunCompleted:
		return RunCompletedPayload{}
	case RunFailed:
		return RunFailedPayload{}
	case RunCancelled:
		return RunCancelledPayload{}
	case RunInterrupted:
		return RunInterruptedPayload{}
	case RunLateOutcome:
		return LateOutcomePayload{}
	case RunRowRefused:
		return RowRefusedPayload{}
	case RunLogGap:
		return LogGapPayload{}
	}
	return nil
}
