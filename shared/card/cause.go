package card

import (
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// causes says which type of failure a code of ours is. A code that is not here is told as Internal.
var causes = map[fault.Code]ErrorType{
	fault.Internal:            Internal,
	fault.InvalidRequest:      InvalidInput,
	fault.InvalidJSON:         InvalidInput,
	fault.BodyTooLarge:        InvalidInput,
	fault.TooLarge:            InvalidInput,
	fault.NotFound:            InvalidInput,
	fault.Conflict:            InvalidInput,
	fault.IdempotencyConflict: InvalidInput,
	fault.RateLimited:         RateLimit,
	fault.Busy:                Overloaded,

	fault.Unauthenticated:      PermissionDenied,
	fault.InvalidCredentials:   PermissionDenied,
	fault.BootstrapDone:        PermissionDenied,
	fault.OriginRefused:        PermissionDenied,
	fault.Forbidden:            PermissionDenied,
	fault.InvitationInvalid:    PermissionDenied,
	fault.EnrolmentInvalid:     PermissionDenied,
	fault.EdgeRevoked:          PermissionDenied,
	fault.EdgeRefused:          PermissionDenied,
	fault.AgentOperateRequired: PermissionDenied,

	fault.AgentUnknown:     InvalidInput,
	fault.EmptyPrompt:      InvalidInput,
	fault.RunEnded:         InvalidInput,
	fault.RunActive:        InvalidInput,
	fault.AlreadyAnswered:  InvalidInput,
	fault.PromptExpired:    InvalidInput,
	fault.PromptCancelled:  InvalidInput,
	fault.SessionDissolved: InvalidInput,
	fault.RecallTimeout:    InvalidInput,
	fault.EditTimeout:      InvalidInput,
	fault.TaskInProgress:   InvalidInput,
	fault.Compacting:       InvalidInput,
	fault.NotRunning:       InvalidInput,
	fault.NotPending:       InvalidInput,
	fault.NothingToCompact: InvalidInput,
	fault.AlreadyCompacted: InvalidInput,
	fault.ReadOnly:         InvalidInput,
	fault.TooLate:          InvalidInput,
	fault.DigestMismatch:   InvalidInput,
	fault.CursorInvalid:    InvalidInput,
	fault.CursorReset:      InvalidInput,
	fault.CursorAhead:      InvalidInput,
	fault.CursorNegative:   InvalidInput,
	fault.EventsExpired:    InvalidInput,

	fault.FrameUnreadable:  Internal,
	fault.RowUnreadable:    Internal,
	fault.RowForeignRun:    Internal,
	fault.RowUnknownRun:    Internal,
	fault.RowTooLarge:      Internal,
	fault.RowNotAppendable: Internal,
	fault.BlobMissing:      Internal,
	fault.BlobMismatch:     Internal,
	fault.LeaseStale:       Internal,
	fault.DispatchForged:   Internal,
	fault.ReceiptForged:    Internal,
	fault.Unsupported:      Internal,

	fault.UnsupportedByRuntime: InvalidInput,

	fault.Timeout:        ToolTimeout,
	fault.AgentExited:    DependencyFail,
	fault.AgentError:     DependencyFail, // it may come from the model, a tool or the agent: nobody says
	fault.AuthRequired:   PermissionDenied,
	fault.StartFailed:    DependencyFail,
	fault.ProfileUnknown: DependencyFail,

	fault.ClientToolFailed: DependencyFail,
	fault.UnknownTool:      InvalidInput,
	fault.InvalidInput:     InvalidInput,
	fault.TooManyCalls:     Overloaded,
	fault.Cancelled:        UserAborted,

	// R34: what was interrupted counts as orphaned.
	fault.StartUnknown: OrphanTimeout,
	fault.ProcessLost:  OrphanTimeout,
	fault.EdgeAbsent:   OrphanTimeout,
	fault.Forced:       OrphanTimeout,
	fault.EdgeStopped:  OrphanTimeout,
	fault.Interrupted:  OrphanTimeout,
}

// TypeOf is the type of failure that a code stands for. Agents may say a type of this protocol in place of a code.
func TypeOf(code fault.Code) ErrorType {
	if t, ok := causes[code]; ok {
		return t
	}
	return ErrorType(code).orInternal()
}

// says whether a code stands for a type of failure.
func says(code fault.Code) bool {
	_, ok := causes[code]
	return ok || known(ErrorType(code))
}

// ErrorOf tells a failure of a run or a tool. Its code says the type; for a code that says none, it is what whoever has failed calls it.
func ErrorOf(e event.ErrorObj, lang Language) ErrorInfo {
	info := ErrorInfo{Type: TypeOf(e.Code), Code: string(e.Code), Message: e.Message, UserMessage: e.UserMessage, Retryable: e.Retryable}
	if !says(e.Code) {
		info.Type = ErrorType(e.Type).orInternal()
	}
	return info.Complete(lang)
}

// Refusal tells what the hub refused: its sentence says to the person what is wrong and what to do.
func Refusal(err error, lang Language) ErrorInfo {
	f := fault.Public(err)
	info := ErrorInfo{Type: TypeOf(f.Code), Code: string(f.Code), Message: f.Detail}
	return info.Complete(lang)
}
