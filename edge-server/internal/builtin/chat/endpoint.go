package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// endpoint is the model.
type endpoint struct {
	service openai.ChatCompletionService
	model   string
	system  string
	effort  shared.ReasoningEffort // "" leaves it to the model
	silence time.Duration
}

// maxSilence is how long an endpoint may say nothing before an attempt is given up (S1, request timeout): an answer may take longer.
const maxSilence = 2 * time.Minute

// errSilent is an attempt that was given up for that.
var errSilent = errors.New("the endpoint says nothing")

// Codes by which an endpoint says what a status does not.
const (
	codeTooLong  = "context_length_exceeded"
	codeNoCredit = "insufficient_quota"
)

func newEndpoint(opts Options, level wire.ThinkingLevel) endpoint {
	settings := []option.RequestOption{option.WithEnvironmentProduction(), option.WithMaxRetries(0)} // how often is for requests to say
	if opts.BaseURL != "" {
		settings = append(settings, option.WithBaseURL(opts.BaseURL))
	}
	if opts.Key != "" {
		settings = append(settings, option.WithAPIKey(opts.Key))
	}
	// Not openai.NewClient: that would read settings from the environment which this agent does not know of.
	return endpoint{
		service: openai.NewChatCompletionService(settings...), model: opts.Model, system: opts.System, effort: effortOf(level),
		silence: cmp.Or(opts.silence, maxSilence),
	}
}

// effortOf says a level of S1 in the words of the protocol, whose highest one is xhigh.
func effortOf(level wire.ThinkingLevel) shared.ReasoningEffort {
	if level == "max" {
		level = "xhigh"
	}
	return shared.ReasoningEffort(level)
}

// answered is an answer, or what there is of it.
type answered struct {
	text  string
	spoke bool // something of it was said: text or reasoning
	usage map[string]int64
	model string // as the endpoint calls it, "" if it does not say

	attempt int // that it is of, from 1
	reason  omni.StopReason
}

// size is how many tokens the conversation has with the answer, 0 where the endpoint does not say.
func (a answered) size() int64 { return a.usage["total_tokens"] }

// stream asks once and says the answer on w as it comes.
func (e endpoint) stream(ctx context.Context, conversation []message, w *agentline.Writer) (answered, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	silence := time.AfterFunc(e.silence, func() { stop(errSilent) })
	defer silence.Stop()
	answer, err := e.follow(ctx, conversation, &voice{w: w, heard: func() { silence.Reset(e.silence) }})
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return answer, errSilent
	}
	return answer, err
}

func (e endpoint) follow(ctx context.Context, conversation []message, v *voice) (answered, error) {
	stream := e.service.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model: e.model, Messages: e.messages(conversation), ReasoningEffort: e.effort,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	})
	defer stream.Close()
	answer := answered{usage: map[string]int64{}}
	whole := false
	for stream.Next() {
		v.heard()
		chunk := stream.Current()
		answer.model = cmp.Or(chunk.Model, answer.model)
		if chunk.Usage.TotalTokens > 0 {
			answer.usage, whole = usageOf(chunk.Usage), true
		}
		for _, choice := range chunk.Choices[:min(1, len(chunk.Choices))] {
			whole = whole || choice.FinishReason != ""
			v.say(choice.Delta)
		}
		if v.w.Err() != nil {
			return answer, v.w.Err()
		}
	}
	answer.text, answer.spoke = v.text.String(), v.spoke
	switch {
	case stream.Err() != nil:
		return answer, stream.Err()
	case !whole:
		return answer, errCutOff
	}
	v.endThought()
	return answer, nil
}

func (e endpoint) messages(conversation []message) []openai.ChatCompletionMessageParamUnion {
	var all []openai.ChatCompletionMessageParamUnion
	if e.system != "" {
		all = append(all, openai.SystemMessage(e.system))
	}
	for _, m := range conversation {
		if m.Role == roleAssistant {
			all = append(all, openai.AssistantMessage(m.Content))
			continue
		}
		all = append(all, openai.UserMessage(m.Content))
	}
	return all
}

// usageOf uses the names of S4.
func usageOf(u openai.CompletionUsage) map[string]int64 {
	usage := map[string]int64{"input_tokens": u.PromptTokens, "output_tokens": u.CompletionTokens, "total_tokens": u.TotalTokens}
	if n := u.CompletionTokensDetails.ReasoningTokens; n > 0 {
		usage["reasoning_tokens"] = n
	}
	if n := u.PromptTokensDetails.CachedTokens; n > 0 {
		usage["cache_read_input_tokens"] = n
	}
	return usage
}

// explain turns an error of the endpoint into a code, a sentence that says what to do, and whether to try again. Codes are those of S0.
func explain(err error, opts Options) (code, sentence string, retryable bool) {
	where := host(opts.BaseURL)
	var answer *openai.Error
	var network net.Error
	var forgotten forgetError
	switch {
	case errors.As(err, &forgotten):
		return "internal", "The answer is complete, but the conversation could not be kept: " + forgotten.Error(), false
	case errors.Is(err, errNoSummary):
		return "model_error", where + " gave no summary.", true
	case errors.Is(err, errSilent):
		return "dependency_fail", where + " has said nothing for too long.", true
	case errors.As(err, &answer):
		return explainStatus(answer, where, opts.Model)
	case errors.Is(err, context.Canceled):
		return "user_aborted", "The answer was stopped.", true
	case errors.As(err, &network):
		return "dependency_fail", fmt.Sprintf("%s cannot be reached. Does it run, and is OPENAI_BASE_URL right?", where), true
	}
	return "model_error", fmt.Sprintf("%s broke off its answer.", where), true
}

func explainStatus(answer *openai.Error, where, model string) (code, sentence string, retryable bool) {
	const (
		unauthorised, forbidden, missing, tooLarge, tooMany, serverFault = 401, 403, 404, 413, 429, 500
	)
	reason := ""
	if answer.Message != "" {
		reason = fmt.Sprintf(" It says: %.300s", answer.Message)
	}
	switch status := answer.StatusCode; {
	case status == unauthorised, status == forbidden:
		return "permission_denied", fmt.Sprintf("%s does not accept the key. Check OPENAI_API_KEY.%s", where, reason), false
	case status == missing:
		return "invalid_input", fmt.Sprintf("%s has no model %q, or is no chat endpoint. Check OPENAI_MODEL and OPENAI_BASE_URL.%s", where, model, reason), false
	case status == tooLarge, answer.Code == codeTooLong:
		return "context_exceeded", fmt.Sprintf("The conversation is too long for %q. Begin a new one.%s", model, reason), false
	case answer.Code == codeNoCredit:
		return "rate_limit", fmt.Sprintf("%s gives no more on this account. Look at its credit, or use another key.%s", where, reason), false
	case status == tooMany:
		return "rate_limit", fmt.Sprintf("%s asks to wait. Try again in %s.%s", where, howLong(asked(answer.Response, time.Now())), reason), true
	case status >= serverFault:
		return "overloaded", fmt.Sprintf("%s has a problem of its own (status %d). Try again in a while.%s", where, status, reason), true
	}
	return "invalid_input", fmt.Sprintf("%s refused the request (status %d).%s", where, answer.StatusCode, reason), false
}

// howLong is a time in words, if there is one.
func howLong(d time.Duration) string {
	if d < time.Second {
		return "a while"
	}
	return d.Round(time.Second).String()
}

// validAddress says whether an endpoint can be at baseURL; "" is OpenAI's own.
func validAddress(baseURL string) bool {
	u, err := url.Parse(baseURL)
	return baseURL == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// host names the endpoint without what may be secret in its address.
func host(baseURL string) string {
	if baseURL == "" {
		return "api.openai.com"
	}
	if u, err := url.Parse(baseURL); err == nil && u.Host != "" {
		return u.Host
	}
	return "The endpoint"
}
