package lane

import (
	"reflect"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script feeds inputs at the same instant and returns the outputs of the last one.
func script(m *Sender, inputs ...Input) []Output {
	var out []Output
	for _, in := range inputs {
		out = m.Step(in, time.Time{}.Add(time.Hour))
	}
	return out
}

func hello(floor, head wire.ProducerSeq) Connected {
	return Connected{wire.Hello{Incarnation: "inc", Floor: floor, Head: head}}
}

func welcome(watermark wire.ProducerSeq, credit int64) Welcomed {
	return Welcomed{Welcome: wire.Welcome{Watermark: watermark, Credit: credit, Generation: 1, MaxFrame: 100}, Known: true}
}

// strange is the welcome of another incarnation's hello, whose rows this journal does not have.
func strange(g wire.Generation) Welcomed {
	return Welcomed{Welcome: wire.Welcome{Incarnation: "other", Watermark: 9, Credit: 50, Generation: g, MaxFrame: 100}}
}

func batch(first wire.ProducerSeq, rows ...string) Fetched {
	b := Batch{First: first}
	for _, r := range rows {
		b.Rows = append(b.Rows, []byte(r))
		b.Bytes += int64(len(r))
	}
	return Fetched{b}
}

func committed(seq wire.ProducerSeq, credit int64) Acknowledged {
	return Acknowledged{CommittedTo: wire.CommittedTo{Receipt: wire.CommitReceipt{Incarnation: "inc", Seq: seq}, Credit: credit}, Known: true}
}

func frame(generation wire.Generation, first wire.ProducerSeq, rows ...string) Send {
	return Send{wire.Frame{Generation: generation, First: first, Rows: batch(first, rows...).Rows}}
}

func TestSenderSays(t *testing.T) {
	for name, tt := range map[string]struct {
		inputs []Input
		want   []Output
	}{
		"hello first": {
			[]Input{hello(1, 0)},
			[]Output{Publish{subject.Hello, hello(1, 0).Hello}},
		},
		"nothing while nothing is new": {
			[]Input{hello(1, 3), welcome(3, 100)},
			[]Output{Opened{3}},
		},
		"rows behind the watermark": {
			[]Input{hello(1, 3), welcome(1, 100)},
			[]Output{Opened{1}, Fetch{2, 100}},
		},
		"rows from the floor when the hub asks for trimmed ones": {
			[]Input{hello(5, 9), Welcomed{Welcome: welcome(2, 100).Welcome}},
			[]Output{Opened{2}, Fetch{5, 100}},
		},
		"a new incarnation when the hub has other rows": {
			[]Input{hello(1, 3), Welcomed{Welcome: welcome(2, 100).Welcome, Local: wire.Chain{1}, Known: true}},
			[]Output{Renumber{}},
		},
		"a new incarnation when the hub has more rows": {
			[]Input{hello(1, 3), Welcomed{Welcome: welcome(4, 100).Welcome}},
			[]Output{Renumber{}},
		},
		"nothing to the welcome of a hello under an older incarnation": {
			[]Input{hello(1, 3), strange(1)},
			nil,
		},
		"goodbye when the hub has opened the lane of an older hello": {
			[]Input{hello(1, 3), welcome(0, 50), strange(2)},
			[]Output{HangUp{fault.New(fault.EdgeRefused, "The hub has opened another lane than this journal's."), true}},
		},
		"a frame at once, and asks for more within the credit": {
			[]Input{hello(1, 3), welcome(0, 50), batch(1, "ab")},
			[]Output{frame(1, 1, "ab"), Fetch{2, 48}},
		},
		"nothing beyond the credit": {
			[]Input{hello(1, 3), welcome(0, 2), batch(1, "ab")},
			[]Output{frame(1, 1, "ab")},
		},
		"no row that is larger than the credit that is left": {
			[]Input{hello(1, 3), welcome(0, 3), batch(1, "ab"), batch(2, "cd")},
			nil,
		},
		"a row larger than all credit when nothing is in flight": {
			[]Input{hello(1, 1), welcome(0, 1), batch(1, "abcd")},
			[]Output{frame(1, 1, "abcd")},
		},
		"more when some are committed": {
			[]Input{hello(1, 3), welcome(0, 2), batch(1, "ab"), committed(1, 2)},
			[]Output{Keep{committed(1, 2).Receipt}, Fetch{2, 100}},
		},
		"nothing behind what the hub committed of an earlier generation": {
			[]Input{hello(1, 3), welcome(0, 9), committed(3, 9)},
			[]Output{Keep{committed(3, 9).Receipt}},
		},
		"everything again after a rewind": {
			[]Input{hello(1, 3), welcome(0, 9), batch(1, "a", "b", "c"), Rewound{wire.Rewind{Generation: 2, From: 2}}},
			[]Output{Fetch{2, 100}},
		},
		"the rewound rows in the new generation": {
			[]Input{hello(1, 3), welcome(0, 9), batch(1, "a", "b", "c"), Rewound{wire.Rewind{Generation: 2, From: 2}}, batch(2, "b", "c")},
			[]Output{frame(2, 2, "b", "c")},
		},
		"nothing to a rewind of an older generation": {
			[]Input{hello(1, 3), welcome(0, 9), batch(1, "a"), Rewound{wire.Rewind{Generation: 1, From: 1}}},
			nil,
		},
		"nothing of a batch that a rewind has overtaken": {
			[]Input{hello(1, 3), welcome(2, 9), Rewound{wire.Rewind{Generation: 2, From: 1}}, batch(3, "c")},
			nil,
		},
		"rows before a blob, then the blob": {
			[]Input{hello(1, 3), welcome(0, 9), Fetched{Batch{
				First: 1, Rows: [][]byte{[]byte("a")}, Bytes: 1, Missing: []event.BlobRef{{SHA256: "x"}},
			}}},
			[]Output{frame(1, 1, "a"), Upload{[]event.BlobRef{{SHA256: "x"}}}},
		},
		"nothing while a blob is on its way": {
			[]Input{hello(1, 2), welcome(0, 9), Fetched{Batch{First: 1, Missing: []event.BlobRef{{}}}}, Grown{Head: 3}},
			nil,
		},
		"the row when its blob is there": {
			[]Input{hello(1, 2), welcome(0, 9), Fetched{Batch{First: 1, Missing: []event.BlobRef{{}}}}, Uploaded{}},
			[]Output{Fetch{1, 100}},
		},
		"a pong": {
			[]Input{hello(1, 0), Pinged{wire.Ping{Nonce: 7}}},
			[]Output{Publish{subject.Pong, wire.Pong{Nonce: 7}}},
		},
		"goodbye when refused": {
			[]Input{hello(1, 0), Refused{wire.Refused{Code: fault.EdgeRevoked, Detail: "gone"}}},
			[]Output{HangUp{fault.New(fault.EdgeRevoked, "gone"), false}},
		},
		"which blob to upload again": {
			[]Input{hello(1, 0), Refused{wire.Refused{Code: wire.NeedBlob, Detail: "abc", Retry: true}}},
			[]Output{Forget{"abc"}, HangUp{fault.New(wire.NeedBlob, "abc"), true}},
		},
		"nothing after goodbye": {
			[]Input{hello(1, 0), Refused{}, Pinged{}},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := script(new(Sender), tt.inputs...); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestSenderGivesUpASilentHub(t *testing.T) {
	m, now := new(Sender), time.Now()
	m.Step(hello(1, 0), now)
	m.Step(welcome(0, 9), now.Add(10*time.Second))
	if out := m.Step(Ticked{}, now.Add(24*time.Second)); out != nil {
		t.Errorf("after 14 s: %v", out)
	}
	if out := m.Step(Ticked{}, now.Add(25*time.Second)); len(out) != 1 {
		t.Errorf("after 15 s: %v", out)
	}
}

// A welcome may be lost while everything else comes through: without an end to its patience the edge would keep its rows for ever.
func TestSenderGivesUpAHubThatDoesNotWelcomeIt(t *testing.T) {
	m, now := new(Sender), time.Now()
	m.Step(hello(1, 1), now)
	for after := time.Second; after <= 30*time.Second; after += time.Second {
		m.Step(Pinged{}, now.Add(after))
		out := m.Step(Ticked{}, now.Add(after))
		if (len(out) > 0) != (after == 30*time.Second) {
			t.Errorf("after %s: %v", after, out)
		}
	}
}

func TestSenderGivesUpAHubThatCommitsNothing(t *testing.T) {
	m, now := new(Sender), time.Now()
	m.Step(hello(1, 1), now)
	m.Step(welcome(0, 9), now)
	m.Step(batch(1, "a"), now)
	for after := time.Second; after <= 30*time.Second; after += time.Second {
		m.Step(Pinged{}, now.Add(after))
		out := m.Step(Ticked{}, now.Add(after))
		if (len(out) > 0) != (after == 30*time.Second) {
			t.Errorf("after %s: %v", after, out)
		}
	}
}

func TestSenderDistrustsImpossibleWords(t *testing.T) {
	for name, in := range map[string]Input{
		"committed beyond the head": committed(9, 9),
		"committed other rows":      Acknowledged{CommittedTo: committed(1, 9).CommittedTo, Local: wire.Chain{1}, Known: true},
		"rewind beyond the head":    Rewound{wire.Rewind{Generation: 2, From: 9}},
		"rewind to nothing":         Rewound{wire.Rewind{Generation: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			out := script(new(Sender), hello(1, 3), welcome(0, 9), in)
			if end, ok := out[len(out)-1].(HangUp); !ok || !end.Retry {
				t.Errorf("got %+v", out)
			}
		})
	}
}
