package truth

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/contentchain"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// Equal says how the log differs from the account, nil if it holds exactly what was said: the same items in the same order, the same
// chain, and the chain that the agent reported at its end. open reads arguments that the log keeps as blobs; it may be nil.
func (a Account) Equal(log []Entry, open contentchain.OpenBlob) error {
	got, err := heard(log, open)
	if err != nil {
		return err
	}
	if err := same(a.said(), got); err != nil {
		return err
	}
	want, err := a.chain()
	if err != nil {
		return err
	}
	if held, err := chainOfLog(log, open); err != nil || held != want {
		return errors.Join(err, fmt.Errorf("the chain of the log is %+v, the agent's %+v", held, want))
	}
	if told, ok := reported(log); !ok || told != want {
		return fmt.Errorf("the agent reported the chain %+v (%t), its book says %+v", told, ok, want)
	}
	return nil
}

// AsReported says how the log differs from what its agent told of itself at its end, for agents that keep no book.
func AsReported(log []Entry, open contentchain.OpenBlob) error {
	if err := dense(log); err != nil {
		return err
	}
	told, ok := reported(log)
	if !ok {
		return errors.New("the agent reported no chain")
	}
	if held, err := chainOfLog(log, open); err != nil || held != told {
		return errors.Join(err, fmt.Errorf("the chain of the log is %+v, the agent reported %+v", held, told))
	}
	return nil
}

// HasPrefix says how the log differs from a beginning of the account, nil if it holds nothing else. What the system itself ends when an
// agent is gone is no content and may follow.
func (a Account) HasPrefix(log []Entry, open contentchain.OpenBlob) error {
	got, err := heard(log, open)
	if err != nil {
		return err
	}
	said := a.said()
	got = withoutClosings(got)
	last := len(got) - 1
	switch {
	case last < 0:
		return nil
	case last >= len(said):
		return fmt.Errorf("the log holds %d items, the agent said %d", len(got), len(said))
	case isText(got[last].kind) && strings.HasPrefix(said[last].text, got[last].text):
		said[last].text = got[last].text // it was cut off in the middle
	}
	return same(said[:last+1], got)
}

// spoken is an item in the form in which book and log are compared: values by checksum, since the log may keep them as blobs.
type spoken struct {
	kind Kind
	text string
	sum  string // of arguments or a result; the code of a failure
}

// String shortens an item to a line of a test's output.
func (s spoken) String() string {
	const shown = 120
	line := fmt.Sprintf("%s %s %q", s.kind, s.sum, s.text)
	if len(line) > shown {
		line = line[:shown] + "…"
	}
	return line
}

// said returns the account in the form in which it is compared.
func (a Account) said() []spoken {
	var all []spoken
	for _, i := range a.Items {
		s := spoken{kind: i.Kind, text: i.Text, sum: i.Code}
		switch i.Kind {
		case Call:
			s.sum = sum(i.Value, noArguments)
		case Result:
			s.sum = sum(i.Value, noResult)
		}
		all = append(all, s)
	}
	return joined(all)
}

func (a Account) chain() (contentchain.Head, error) {
	var c contentchain.Chain
	for _, i := range a.Items {
		if err := i.chain(&c); err != nil {
			return contentchain.Head{}, err
		}
	}
	return c.Head(), nil
}

// joined puts neighbouring pieces of text together, as the edge may have, and drops what is no content.
func joined(all []spoken) []spoken {
	var out []spoken
	for _, s := range all {
		last := len(out) - 1
		switch {
		case s.kind == "", isText(s.kind) && s.text == "":
		case isText(s.kind) && last >= 0 && out[last].kind == s.kind:
			out[last].text += s.text
		default:
			out = append(out, s)
		}
	}
	return out
}

func isText(k Kind) bool { return k == Text || k == Thought }

func same(said, got []spoken) error {
	n := min(len(said), len(got))
	for i := range n {
		if said[i] != got[i] {
			return fmt.Errorf("item %d: the agent said %s, the log holds %s", i, said[i], got[i])
		}
	}
	switch {
	case len(said) > n:
		return fmt.Errorf("the log holds %d of %d items; the first that is missing: %s", n, len(said), said[n])
	case len(got) > n:
		return fmt.Errorf("the agent said %d items, the log holds %d; the first beyond: %s", n, len(got), got[n])
	}
	return nil
}

// What stands for absent values, as in package contentchain.
var (
	noArguments = json.RawMessage(`{}`)
	noResult    = json.RawMessage(`null`)
)

func sum(value, absent json.RawMessage) string {
	if len(value) == 0 {
		value = absent
	}
	s, err := event.Checksum(value)
	if err != nil {
		return "no JSON: " + err.Error()
	}
	return s
}
