package omni

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// request is how far a session is with its requests to the model. Of an agent that does not state them one begins where the model first says
// something, and has ended well when one of its calls has an output, or the run goes well.
type request struct {
	Number  int        `json:"number,omitempty"` // of the newest
	Open    bool       `json:"open,omitempty"`
	Attempt omni.Count `json:"attempt,omitempty"` // of a request that is tried again: which one this is; 0 for a first one
	Stated  bool       `json:"stated,omitempty"`  // the agent states its requests in this run
	Counted bool       `json:"counted,omitempty"` // and what each of them used
	Failed  bool       `json:"failed,omitempty"`  // the newest one did not end well
	Waits   bool       `json:"waits,omitempty"`   // it is made again in a while
}

// end is how a request, or what a session did for a run, has ended.
type end struct {
	stop    omni.StopReason
	failure string // what went wrong, "" where nothing did
	attempt omni.Count
	retryIn *omni.Count
}

// requestBegins is where the model says something.
func (s *State) requestBegins(in *session) {
	if !in.Request.Stated {
		s.begin(in)
	}
}

func (s *State) begin(in *session) {
	if in.Request.Open {
		return
	}
	in.Request.Open, in.Request.Waits = true, false
	in.Request.Number++
	s.tell(in, omni.RequestBegin())
}

func (s *State) requestEnds(in *session, e end) {
	if !in.Request.Open {
		return
	}
	s.closeWritten(in, e.reason())
	if e.attempt == 0 {
		e.attempt = in.Request.Attempt
	}
	if e.stop == omni.Completed {
		in.Turns++
	}
	in.Request.Open, in.Request.Attempt, in.Request.Failed = false, 0, e.stop != omni.Completed
	in.Request.Waits = e.retryIn != nil
	s.tell(in, omni.RequestEnd(e.stop, omni.RetryDetail{ErrorMessage: e.failure, Attempt: e.attempt, RetryInMS: e.retryIn}))
}

// stated is where an agent says that it makes a request. One that it has not ended has failed; one that was taken to be open ends here.
func (s *State) stated(f Fact) {
	p, ok := read[event.RequestBeginPayload](f)
	if !ok {
		return
	}
	in := s.in(s.of(f.Run), p.AgentID)
	s.close(in, "")
	if in.Request.Stated {
		s.requestEnds(in, end{stop: omni.Failed})
	} else {
		s.requestEnds(in, end{stop: omni.Completed})
	}
	in.Request.Stated = true
	if p.Model != "" {
		in.Model = p.Model
	}
	s.begin(in)
}

// statedEnd is where it says how one ended, and what it used.
func (s *State) statedEnd(f Fact) {
	p, ok := read[event.RequestEndPayload](f)
	if !ok {
		return
	}
	in := s.in(s.of(f.Run), p.AgentID)
	in.Request.Stated, in.Request.Attempt = true, 0
	e := end{stop: omni.StopReason(p.Status), failure: p.ErrorMessage, attempt: omni.Count(max(p.Attempt, 0))}
	if p.RetryInMS != nil {
		wait := omni.Count(*p.RetryInMS)
		e.retryIn = &wait
	}
	s.close(in, e.reason())
	s.closeWritten(in, e.reason())
	s.begin(in)
	if counts := countsOf(p.Usage); !counts.IsZero() {
		in.Request.Counted = true
		s.use(in, counts)
	}
	s.requestEnds(in, e)
}

// use tells what a request used, and adds it to what the session has.
func (s *State) use(in *session, counts omni.TokenCounts) {
	usage := omni.TokenUsage(in.Used, counts)
	s.tell(in, usage)
	in.Used = usage.Session
}

// reason is that of a message that ends with it: none where all went well.
func (e end) reason() omni.StopReason {
	if e.stop == omni.Completed {
		return ""
	}
	return e.stop
}

// apiRetry ends the request that failed; the next one has the next number.
func (s *State) apiRetry(f Fact) {
	p, ok := read[event.APIRetryPayload](f)
	if !ok {
		return
	}
	in := s.in(s.of(f.Run), p.AgentID)
	if in.Request.Stated {
		return
	}
	e := end{stop: omni.Failed, attempt: omni.Count(max(p.Attempt, 0))}
	if p.Error != nil {
		e.failure = p.Error.Message
		if p.Error.Code == fault.Timeout {
			e.stop = omni.Timeout
		}
	}
	if wait := omni.Count(p.RetryInMS); wait > 0 {
		e.retryIn = &wait
	}
	s.close(in, e.stop)
	s.requestBegins(in)
	s.requestEnds(in, e)
	if e.attempt > 0 {
		in.Request.Attempt = e.attempt.Plus(1)
	}
}

func (s *State) agentResult(f Fact) {
	if p, ok := read[event.AgentResultPayload](f); ok {
		s.main(s.of(f.Run)).spend(p.Usage)
	}
}

// spend remembers what the run has used so far; it is told once, with the end, unless each request has told its own.
func (in *session) spend(usage json.RawMessage) {
	if in.Request.Counted {
		return
	}
	if counts := countsOf(usage); !counts.IsZero() {
		in.Spent = counts
	}
}

// countsOf reads an agent's usage under the names that providers have for the same counts. Without a total of the provider's own it is the sum,
// to which those belong that count what was read from a cache apart from the input.
func countsOf(usage json.RawMessage) omni.TokenCounts {
	var fields map[string]any
	if json.Unmarshal(usage, &fields) != nil {
		return omni.TokenCounts{}
	}
	apart := count(fields, "cache_read_input_tokens", "cache_read_tokens")
	c := omni.TokenCounts{
		CacheRead:  apart.Plus(count(fields, "cached_input_tokens")),
		CacheWrite: count(fields, "cache_creation_input_tokens", "cache_write_tokens"),
		Output:     count(fields, "output_tokens", "tokens_out", "completion_tokens"),
		Total:      count(fields, "total_tokens"),
	}
	if c.Total == 0 {
		input := count(fields, "input_tokens", "tokens_in", "prompt_tokens")
		c.Total = input.Plus(c.Output).Plus(apart).Plus(c.CacheWrite)
	}
	return c
}

// count is the first of the fields that counts something.
func count(fields map[string]any, names ...string) omni.Count {
	for _, name := range names {
		if v, ok := fields[name].(float64); ok && v >= 1 {
			return omni.Count(min(v, float64(omni.MaxCount)))
		}
	}
	return 0
}
