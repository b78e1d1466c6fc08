package card_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestAnEmptyListOfToolsIsNotNoList(t *testing.T) {
	for _, tc := range []struct {
		frame  string
		listed bool
	}{
		{`{"type":"session.create"}`, false},
		{`{"type":"session.create","tools":[]}`, true},
	} {
		got, err := card.ReadFrame([]byte(tc.frame))
		if err != nil {
			t.Fatal(err)
		}
		created := got.Frame.(card.SessionCreate)
		if (created.Tools != nil) != tc.listed {
			t.Errorf("%s is read as %#v", tc.frame, created)
		}
		again, err := card.EncodeFrame(created, "")
		if err != nil || strings.Contains(string(again), "tools") != tc.listed {
			t.Errorf("%s is written as %s, %v", tc.frame, again, err)
		}
	}
}

func TestAResultBecomesTheAnswerOfTheLog(t *testing.T) {
	for _, tc := range []struct{ frame, want string }{
		{`{"type":"tool.result","tool_use_id":"a","status":"ok","output":{"a":1.0},"metadata":{"render_hint":"url"}}`,
			`{"status":"ok","output":{"a":1.0},"metadata":{"render_hint":"url"}}`},
		{`{"type":"tool.result","tool_use_id":"a","status":"failed","error":{"type":"dependency_fail","code":"E1","message":"no","retryable":true}}`,
			`{"status":"failed","error":{"code":"E1","message":"no","retryable":true,"type":"dependency_fail"}}`},
		{`{"type":"tool.result","tool_use_id":"a","status":"failed","error":{"type":"rate_limit","code":"timeout","message":"no","user_message":"Not now."}}`,
			`{"status":"failed","error":{"code":"timeout","message":"no","retryable":false,"user_message":"Not now."}}`},
		{`{"type":"tool.result","tool_use_id":"a","status":"failed","error":{"type":"of_tomorrow","code":"E1","message":"no"}}`,
			`{"status":"failed","error":{"code":"E1","message":"no","retryable":false}}`},
		{`{"type":"tool.result","tool_use_id":"a","status":"failed","error":{"type":"tool_timeout","message":"","user_message":"Slow."}}`,
			`{"status":"failed","error":{"code":"tool_timeout","message":"Slow.","retryable":false,"user_message":"Slow."}}`},
		{`{"type":"tool.result","tool_use_id":"a","status":"cancelled"}`, `{"status":"cancelled"}`},
	} {
		got, err := card.ReadFrame([]byte(tc.frame))
		if err != nil {
			t.Fatal(err)
		}
		said, err := event.Encode(got.Frame.(card.ToolResult).Response())
		if err != nil || string(said) != tc.want {
			t.Errorf("%s is %s, %v", tc.frame, said, err)
		}
	}
}

func TestAResultThatIsTooLargeIsRefused(t *testing.T) {
	frame := `{"type":"tool.result","tool_use_id":"a","status":"ok","output":"` + strings.Repeat("x", event.MaxClientToolResponse) + `"}`
	if _, err := card.ReadFrame([]byte(frame)); err == nil || card.Refusal(err, card.English).Type != card.InvalidInput {
		t.Errorf("%v", err)
	}
}

func TestAFailureOfAClientIsToldAsItSaidIt(t *testing.T) {
	for _, tc := range []struct {
		said string
		want card.ErrorInfo
	}{
		{`{"type":"dependency_fail","code":"E1","message":"no","user_message":"The shop is closed."}`,
			card.ErrorInfo{Type: card.DependencyFail, Code: "E1", Message: "no", UserMessage: "The shop is closed.", Retryable: true}},
		{`{"type":"permission_denied","code":"E1","message":"no"}`, card.NewError(card.PermissionDenied, "no", card.English)},
		{`{"type":"rate_limit","code":"timeout","message":"no"}`, card.NewError(card.ToolTimeout, "no", card.English)},
		{`{"type":"of_tomorrow","code":"E1","message":"no"}`, card.NewError(card.Internal, "no", card.English)},
		{`{"type":"user_aborted","message":"no","user_message":"You did this."}`, card.NewError(card.UserAborted, "no", card.English)},
	} {
		got, err := card.ReadFrame([]byte(`{"type":"tool.result","tool_use_id":"a","status":"failed","error":` + tc.said + `}`))
		if err != nil {
			t.Fatal(err)
		}
		told := card.ErrorOf(*got.Frame.(card.ToolResult).Response().Error, card.English)
		tc.want.Code = told.Code
		if !reflect.DeepEqual(told, tc.want) {
			t.Errorf("%s is told as %+v, want %+v", tc.said, told, tc.want)
		}
	}
}
