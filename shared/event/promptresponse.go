package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// CheckResponse says what is wrong with a person's or a client's answer to a prompt of the kind that asked inner. response is what comes beside the decision, nil
// for nothing.
func CheckResponse(kind PromptKind, inner json.RawMessage, d Decision, response json.RawMessage) error {
	switch {
	case !kind.Takes(d):
		return fmt.Errorf("%.32q is no answer to a %s", d, kind)
	case kind == PromptClientTool:
		return checkClientTool(d, response)
	case kind == PromptStepDecision:
		return checkStep(inner, d, response)
	case kind == PromptQuestion && d == Allow:
		return checkChoice(inner, response)
	case kind == PromptPlanReview && d == Allow && len(response) > 0:
		return checkPlan(inner, response)
	case len(response) > 0:
		return errors.New("nothing is taken beside the decision")
	}
	return nil
}

func checkStep(inner json.RawMessage, d Decision, response json.RawMessage) error {
	var asked StepDecision
	if err := json.Unmarshal(inner, &asked); err != nil {
		return fmt.Errorf("read what was asked: %w", err)
	}
	switch {
	case d == TryAgain && !asked.AllowRetry:
		return errors.New("it cannot be tried again")
	case len(response) > 0:
		return errors.New("nothing is taken beside the decision")
	}
	return nil
}

func checkChoice(inner, response json.RawMessage) error {
	var asked Question
	var said QuestionResponse
	if err := json.Unmarshal(inner, &asked); err != nil {
		return fmt.Errorf("read what was asked: %w", err)
	}
	if err := strictly(response, &said); err != nil {
		return err
	}
	chosen := map[string]bool{}
	for _, label := range said.SelectedOptions {
		if !slices.ContainsFunc(asked.Options, func(o Choice) bool { return o.Label == label }) {
			return fmt.Errorf("%.80q is no option", label)
		}
		chosen[label] = true
	}
	switch {
	case len(chosen) != len(said.SelectedOptions):
		return errors.New("an option is chosen twice")
	case len(chosen) > 1 && !asked.Multi:
		return errors.New("only one option can be chosen")
	case said.CustomText != "" && !asked.Custom():
		return errors.New("the answer must be one of the options")
	case len(chosen) == 0 && said.CustomText == "":
		return errors.New("an answer needs an option or a text")
	}
	return nil
}

func checkPlan(inner, response json.RawMessage) error {
	var asked PlanReview
	var said PlanResponse
	if err := json.Unmarshal(inner, &asked); err != nil {
		return fmt.Errorf("read what was asked: %w", err)
	}
	if err := strictly(response, &said); err != nil || len(said.UpdatedSteps) == 0 {
		return err
	}
	return checkSteps(said.UpdatedSteps, asked.AvailableSubagents)
}

// strictly refuses keys that would be ignored: a person meant something by them.
func strictly(response json.RawMessage, said any) error {
	if len(response) == 0 {
		return errors.New("the decision alone is no answer")
	}
	dec := json.NewDecoder(bytes.NewReader(response))
	dec.DisallowUnknownFields()
	if err := dec.Decode(said); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}
