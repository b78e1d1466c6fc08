package uplink

import (
	"reflect"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script feeds inputs at the same instant and returns the outputs of the last one.
func script(m *machine, inputs ...input) []output {
	var out []output
	for _, in := range inputs {
		out = m.step(in, time.Time{}.Add(time.Hour))
	}
	return out
}

func hello(floor, head wire.ProducerSeq) connected {
	return connected{wire.Hello{Incarnation: "inc", Floor: floor, Head: head}}
}

func welcome(watermark wire.ProducerSeq, credit int64) welcomed {
	return welcomed{Welcome: wire.Welcome{Watermark: watermark, Credit: credit, Generation: 1, MaxFrame: 100}, Known: true}
}

func batch(first wire.ProducerSeq, rows ...string) fetched {
	b := journal.Batch{First: first}
	for _, r := range rows {
		b.Rows = append(b.Rows, []byte(r))
		b.Bytes += int64(len(r))
	}
	return fetched{b}
}

func committed(seq wire.ProducerSeq, credit int64) acknowledged {
	return acknowledged{CommittedTo: wire.CommittedTo{Receipt: wire.CommitReceipt{Incarnation: "inc", Seq: seq}, Credit: credit}, Known: true}
}

func frame(generation wire.Generation, first wire.ProducerSeq, rows ...string) send {
	return send{wire.Frame{Generation: generation, First: first, Rows: batch(first, rows...).Rows}}
}

func TestMachineSays(t *testing.T) {
	for name, tt := range map[string]struct {
		inputs []input
		want   []output
	}{
		"hello first": {
			[]input{hello(1, 0)},
			[]output{publish{subject.Hello, hello(1, 0).Hello}},
		},
		"nothing while nothing is new": {
			[]input{hello(1, 3), welcome(3, 100)},
			[]output{opened{3}},
		},
		"rows behind the watermark": {
			[]input{hello(1, 3), welcome(1, 100)},
			[]output{opened{1}, fetch{2, 100}},
		},
		"rows from the floor when the hub asks for trimmed ones": {
			[]input{hello(5, 9), welcomed{Welcome: welcome(2, 100).Welcome}},
			[]output{opened{2}, fetch{5, 100}},
		},
		"a new incarnation when the hub has other rows": {
			[]input{hello(1, 3), welcomed{Welcome: welcome(2, 100).Welcome, Local: wire.Chain{1}, Known: true}},
			[]output{renumber{}},
		},
		"a new incarnation when the hub has more rows": {
			[]input{hello(1, 3), welcomed{Welcome: welcome(4, 100).Welcome}},
			[]output{renumber{}},
		},
		"a frame at once, and asks for more within the credit": {
			[]input{hello(1, 3), welcome(0, 50), batch(1, "ab")},
			[]output{frame(1, 1, "ab"), fetch{2, 48}},
		},
		"nothing beyond the credit": {
			[]input{hello(1, 3), welcome(0, 2), batch(1, "ab")},
			[]output{frame(1, 1, "ab")},
		},
		"no row that is larger than the credit that is left": {
			[]input{hello(1, 3), welcome(0, 3), batch(1, "ab"), batch(2, "cd")},
			nil,
		},
		"a row larger than all credit when nothing is in flight": {
			[]input{hello(1, 1), welcome(0, 1), batch(1, "abcd")},
			[]output{frame(1, 1, "abcd")},
		},
		"more when some are committed": {
			[]input{hello(1, 3), welcome(0, 2), batch(1, "ab"), committed(1, 2)},
			[]output{keep{committed(1, 2).Receipt}, fetch{2, 100}},
		},
		"nothing behind what the hub committed of an earlier generation": {
			[]input{hello(1, 3), welcome(0, 9), committed(3, 9)},
			[]output{keep{committed(3, 9).Receipt}},
		},
		"everything again after a rewind": {
			[]input{hello(1, 3), welcome(0, 9), batch(1, "a", "b", "c"), rewound{wire.Rewind{Generation: 2, From: 2}}},
			[]output{fetch{2, 100}},
		},
		"the rewound rows in the new generation": {
			[]input{hello(1, 3), welcome(0, 9), batch(1, "a", "b", "c"), rewound{wire.Rewind{Generation: 2, From: 2}}, batch(2, "b", "c")},
			[]output{frame(2, 2, "b", "c")},
		},
		"nothing to a rewind of an older generation": {
			[]input{hello(1, 3), welcome(0, 9), batch(1, "a"), rewound{wire.Rewind{Generation: 1, From: 1}}},
			nil,
		},
		"nothing of a batch that a rewind has overtaken": {
			[]input{hello(1, 3), welcome(2, 9), rewound{wire.Rewind{Generation: 2, From: 1}}, batch(3, "c")},
			nil,
		},
		"rows before a blob, then the blob": {
			[]input{hello(1, 3), welcome(0, 9), fetched{journal.Batch{
				First: 1, Rows: [][]byte{[]byte("a")}, Bytes: 1, Missing: []event.BlobRef{{SHA256: "x"}},
			}}},
			[]output{frame(1, 1, "a"), upload{[]event.BlobRef{{SHA256: "x"}}}},
		},
		"nothing while a blob is on its way": {
			[]input{hello(1, 2), welcome(0, 9), fetched{journal.Batch{First: 1, Missing: []event.BlobRef{{}}}}, grown{Head: 3}},
			nil,
		},
		"the row when its blob is there": {
			[]input{hello(1, 2), welcome(0, 9), fetched{journal.Batch{First: 1, Missing: []event.BlobRef{{}}}}, uploaded{}},
			[]output{fetch{1, 100}},
		},
		"a pong": {
			[]input{hello(1, 0), pinged{wire.Ping{Nonce: 7}}},
			[]output{publish{subject.Pong, wire.Pong{Nonce: 7}}},
		},
		"goodbye when refused": {
			[]input{hello(1, 0), refused{wire.Refused{Code: fault.EdgeRevoked, Detail: "gone"}}},
			[]output{hangUp{fault.New(fault.EdgeRevoked, "gone"), false}},
		},
		"which blob to upload again": {
			[]input{hello(1, 0), refused{wire.Refused{Code: wire.NeedBlob, Detail: "abc", Retry: true}}},
			[]output{forget{"abc"}, hangUp{fault.New(wire.NeedBlob, "abc"), true}},
		},
		"nothing after goodbye": {
			[]input{hello(1, 0), refused{}, pinged{}},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := script(new(machine), tt.inputs...); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestMachineGivesUpASilentHub(t *testing.T) {
	m, now := new(machine), time.Now()
	m.step(hello(1, 0), now)
	m.step(welcome(0, 9), now.Add(10*time.Second))
	if out := m.step(ticked{}, now.Add(24*time.Second)); out != nil {
		t.Errorf("after 14 s: %v", out)
	}
	if out := m.step(ticked{}, now.Add(25*time.Second)); len(out) != 1 {
		t.Errorf("after 15 s: %v", out)
	}
}

func TestMachineGivesUpAHubThatCommitsNothing(t *testing.T) {
	m, now := new(machine), time.Now()
	m.step(hello(1, 1), now)
	m.step(welcome(0, 9), now)
	m.step(batch(1, "a"), now)
	for after := time.Second; after <= 30*time.Second; after += time.Second {
		m.step(pinged{}, now.Add(after))
		out := m.step(ticked{}, now.Add(after))
		if (len(out) > 0) != (after == 30*time.Second) {
			t.Errorf("after %s: %v", after, out)
		}
	}
}

func TestMachineDistrustsImpossibleWords(t *testing.T) {
	for name, in := range map[string]input{
		"committed beyond the head": committed(9, 9),
		"committed other rows":      acknowledged{CommittedTo: committed(1, 9).CommittedTo, Local: wire.Chain{1}, Known: true},
		"rewind beyond the head":    rewound{wire.Rewind{Generation: 2, From: 9}},
		"rewind to nothing":         rewound{wire.Rewind{Generation: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			out := script(new(machine), hello(1, 3), welcome(0, 9), in)
			if end, ok := out[len(out)-1].(hangUp); !ok || !end.Retry {
				t.Errorf("got %+v", out)
			}
		})
	}
}
