package card_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

func TestEveryErrorSaysWhatThePersonReads(t *testing.T) {
	retryable := map[card.ErrorType]bool{
		card.ToolTimeout: true, card.RateLimit: true, card.Overloaded: true, card.ContractFail: true, card.DependencyFail: true, card.ModelError: true,
	}
	han := regexp.MustCompile(`\p{Han}`)
	seen := map[string]bool{}
	for _, typ := range card.ErrorTypes() {
		zh, en := card.NewError(typ, "why", ""), card.NewError(typ, "why", card.English)
		if zh.Type != typ || zh.Message != "why" || zh.Retryable != retryable[typ] || en.Retryable != zh.Retryable {
			t.Errorf("%+v", zh)
		}
		if !han.MatchString(zh.UserMessage) || han.MatchString(en.UserMessage) || seen[en.UserMessage] || en.UserMessage == "" {
			t.Errorf("%s says %q, %q", typ, zh.UserMessage, en.UserMessage)
		}
		seen[en.UserMessage] = true
	}
	if len(seen) != 15 {
		t.Errorf("%d types", len(seen))
	}
}

func TestAnUnknownErrorIsSpokenOfAsInternal(t *testing.T) {
	got, want := card.NewError("payload_too_large", "why", card.English), card.NewError(card.Internal, "why", card.English)
	if got.Type != "payload_too_large" || got.UserMessage != want.UserMessage || got.Retryable {
		t.Errorf("%+v", got)
	}
}

func TestCompletingAnErrorKeepsWhatWasSaid(t *testing.T) {
	said := card.ErrorInfo{Type: card.PermissionDenied, UserMessage: "Nope.", Retryable: true}
	if got := said.Complete(card.English); got.UserMessage != "Nope." || !got.Retryable {
		t.Errorf("%+v", got)
	}
	if got := (card.ErrorInfo{Type: card.RateLimit}).Complete(card.English); !got.Retryable {
		t.Errorf("%+v", got)
	}
	aborted := card.ErrorInfo{Type: card.UserAborted, UserMessage: "context canceled"}
	if got := aborted.Complete(card.English); got.UserMessage != card.NewError(card.UserAborted, "", card.English).UserMessage {
		t.Errorf("%+v", got)
	}
}

func TestOutcomesHaveTheTypeOfTheirCode(t *testing.T) {
	for code, want := range map[fault.Code]card.ErrorType{
		fault.Timeout: card.ToolTimeout, fault.Interrupted: card.OrphanTimeout, fault.EdgeAbsent: card.OrphanTimeout, fault.ProcessLost: card.OrphanTimeout,
		fault.RateLimited: card.RateLimit, fault.Busy: card.Overloaded, fault.AgentOperateRequired: card.PermissionDenied,
		fault.EmptyPrompt: card.InvalidInput, fault.AgentExited: card.DependencyFail, fault.Internal: card.Internal,
		"context_exceeded": card.ContextExceeded, "orphan_timeout": card.OrphanTimeout, "BASH_TIMEOUT": card.Internal, "": card.Internal,
	} {
		if got := card.TypeOf(code); got != want {
			t.Errorf("%q is %s, want %s", code, got, want)
		}
	}
	got := card.ErrorOf(event.ErrorObj{Code: "model_error", Message: "529", Retryable: false}, card.English)
	if got.Type != card.ModelError || got.Code != "model_error" || got.Message != "529" || !got.Retryable || got.UserMessage == "" {
		t.Errorf("%+v", got)
	}
	if got := card.ErrorOf(event.ErrorObj{Code: fault.Forbidden, Retryable: true}, ""); !got.Retryable {
		t.Errorf("%+v", got)
	}
}

// TestEveryCodeHasADecidedType reads the source, so that a code cannot be forgotten here.
func TestEveryCodeHasADecidedType(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../fault/code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	ast.Inspect(file, func(node ast.Node) bool {
		if lit, ok := node.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			code, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			if _, decided := card.Decided(fault.Code(code)); !decided {
				t.Errorf("%s has no type", code)
			}
			codes++
		}
		return true
	})
	if codes < 50 {
		t.Errorf("only %d codes were read", codes)
	}
}

func TestARefusalSaysWhatToDo(t *testing.T) {
	got := card.Refusal(fault.New(fault.AlreadyAnswered, "Anna has answered this already."), card.English)
	if got.Type != card.InvalidInput || got.Code != "already_answered" || got.Message != "Anna has answered this already." || got.UserMessage == "" {
		t.Errorf("%+v", got)
	}
	if got := card.Refusal(errors.New("dial postgres://user:pw@host"), ""); got.Type != card.Internal || regexp.MustCompile("postgres").MatchString(got.Message) {
		t.Errorf("%+v", got)
	}
}

func TestACloseIsAsSevereAsItsEnd(t *testing.T) {
	for status, want := range map[card.Status]card.Severity{card.OK: card.Info, card.Failed: card.Error, card.Skipped: card.Warn, card.Cancelled: card.Warn} {
		if e := newTrace().At(at, runID).Close(card.Ref{ID: "t", Kind: card.Tool}, card.End{Status: status}); e.Envelope.Severity != want || status.Severity() != want {
			t.Errorf("%s is %s", status, e.Envelope.Severity)
		}
	}
}
