package wire

import (
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// ControlOrder is the body of a control: something that a run at work is told. Of one that it cannot be told, and of one that has ended, the
// receipt says so.
type ControlOrder struct {
	What    ControlKind  `json:"what"`
	SteerID id.Steer     `json:"steer_id,omitempty"` // of a steer
	Text    string       `json:"text,omitempty"`     // of a steer, at most event.MaxSteer bytes
	Mode    ApprovalMode `json:"mode,omitempty"`     // of an approval_mode; "" leaves permissions to the profile again
}

// ControlKind says what a run is told.
type ControlKind string

// Kinds of control. All but the last are for agents whose profile names them; the last one is the edge's own.
const (
	ControlSteer        ControlKind = "steer"         // to hear what a person says
	ControlRetryNow     ControlKind = "retry_now"     // not to wait before it makes its request again
	ControlCompact      ControlKind = "compact"       // to make its model's context shorter
	ControlApprovalMode ControlKind = "approval_mode" // who is asked for permission from now on
)

// ThinkingLevels is the word of Profile.Controls for agents whose turns may have a thinking level.
const ThinkingLevels = "thinking_level"

// Controls returns what a profile may say that its agent can do.
func Controls() []string {
	return []string{string(ControlSteer), string(ControlRetryNow), string(ControlCompact), ThinkingLevels}
}

// ApprovalMode is how a person wants permissions to be answered that the person's runs ask for.
type ApprovalMode string

// Approval modes. S1 calls the last three deny-all, read-only and always-ask.
const (
	AllowAll      ApprovalMode = "allow-all"      // yes
	DenyAll       ApprovalMode = "deny-all"       // no
	AllowReadonly ApprovalMode = "allow-readonly" // yes to tools that only look; for others a person is asked
	AlwaysAsk     ApprovalMode = "ask"            // a person is asked
)

// ApprovalModes returns them all.
func ApprovalModes() []ApprovalMode {
	return []ApprovalMode{AllowAll, DenyAll, AllowReadonly, AlwaysAsk}
}

// Known says whether the mode is one that there is, or "".
func (m ApprovalMode) Known() bool { return m == "" || slices.Contains(ApprovalModes(), m) }

// ThinkingLevel is how hard the model should think (S1).
type ThinkingLevel string

// LevelsOfThinking returns S1's, the least first.
func LevelsOfThinking() []ThinkingLevel {
	return []ThinkingLevel{"none", "low", "medium", "high", "xhigh", "max"}
}

// Known says whether the level is one that there is, or "".
func (l ThinkingLevel) Known() bool { return l == "" || slices.Contains(LevelsOfThinking(), l) }

// Check says what is wrong with an order, as a fault for the one who gave it.
func (o ControlOrder) Check() error {
	switch o.What {
	case ControlSteer:
		return CheckSteer(o.SteerID, o.Text)
	case ControlRetryNow, ControlCompact:
		return nil
	case ControlApprovalMode:
		if !o.Mode.Known() {
			return fault.New(fault.InvalidRequest, "There is no approval mode of this name.")
		}
		return nil
	}
	return fault.New(fault.Unsupported, "A run cannot be told this.")
}

// CheckSteer says what is wrong with a text for a run at work, as a fault for the one who says it.
func CheckSteer(steer id.Steer, text string) error {
	switch _, err := id.ParseSteer(string(steer)); {
	case err != nil:
		return fault.Wrap(err, fault.InvalidRequest, "The steer_id is none.")
	case len(text) > event.MaxSteer:
		return fault.New(fault.TooLarge, "What is said to a run has at most %d bytes.", event.MaxSteer)
	case strings.TrimSpace(text) == "":
		return fault.New(fault.EmptyPrompt, "There is nothing to say.")
	}
	return nil
}
