package client

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// talk is a conversation as the hub has it, with the frames that tell of what happens in it.
type talk struct {
	senders  []UserID // of the messages, from number 1 on
	recalled map[int]bool
	marks    map[UserID]int
	changes  int
	frames   []HubWebSocketFrame
}

func newTalk() *talk {
	k := &talk{recalled: map[int]bool{}, marks: map[UserID]int{}}
	k.tell(HubWebSocketFrameTypeSessionCreated, `{"session_id":"s","type":"group","owner_id":"bob","members":[{"member_id":"ada"},{"member_id":"bob"}]}`)
	return k
}

func (k *talk) tell(typ HubWebSocketFrameType, format string, args ...any) {
	k.frames = append(k.frames, frameOf(typ, fmt.Sprintf(format, args...)))
}

func (k *talk) unread(of UserID) (n int) {
	for seq := k.marks[of] + 1; seq <= len(k.senders); seq++ {
		if k.senders[seq-1] != of && !k.recalled[seq] {
			n++
		}
	}
	return n
}

func (k *talk) reading(of UserID) string {
	return fmt.Sprintf(`{"session_id":"s","user_id":%q,"last_read_seq":%d,"last_seq":%d,"last_change":%d,"unread":%d}`,
		of, k.marks[of], len(k.senders), k.changes, k.unread(of))
}

// message is what is said of a message now: one that was recalled says so, whenever it is told.
func (k *talk) message(seq int) HubWebSocketFrame {
	return frameOf(HubWebSocketFrameTypeMessageNew, fmt.Sprintf(`{"id":"m%d","session_id":"s","seq_id":%d,"sender_id":%q,"recalled":%t}`,
		seq, seq, k.senders[seq-1], k.recalled[seq]))
}

// happens is one thing that somebody does.
func (k *talk) happens(t *rapid.T) {
	who := rapid.SampledFrom([]UserID{"ada", "bob"}).Draw(t, "who")
	seq := rapid.IntRange(0, len(k.senders)).Draw(t, "seq")
	switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
	case what < 5:
		k.senders = append(k.senders, who)
		k.frames = append(k.frames, k.message(len(k.senders)))
	case what < 7:
		if seq > k.marks[who] {
			k.marks[who] = seq
			k.tell(HubWebSocketFrameTypeMessageRead, "%s", k.reading(who))
		}
	case what == 7:
		k.changes++ // an edit, a pin or a reaction
	case seq > 0 && !k.recalled[seq]:
		k.recalled[seq] = true
		k.changes++
		k.tell(HubWebSocketFrameTypeMessageRecall, `{"message_id":"m%d","session_id":"s","seq_id":%d,"sender_id":%q,"change_seq":%d}`,
			seq, seq, k.senders[seq-1], k.changes)
	}
}

// However late, often and in whichever order a device is told of a conversation, and whenever it takes a snapshot, it counts as the hub does.
func TestADeviceCountsAsTheHubDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := newTalk()
		for range rapid.IntRange(0, 30).Draw(t, "before") {
			k.happens(t)
		}
		device := NewReducer()
		device.Of("ada")
		device.Keep(Limits{Messages: rapid.SampledFrom([]int{1, 3, -1}).Draw(t, "kept")})
		heard := k.frames
		if rapid.Bool().Draw(t, "snapshot") { // what came before it is told again in part, or not at all
			k.tell(HubWebSocketFrameTypeMessageRead, "%s", k.reading("ada"))
			from := rapid.IntRange(0, len(k.frames)-1).Draw(t, "from")
			heard = append([]HubWebSocketFrame{k.frames[0], k.frames[len(k.frames)-1]}, k.frames[from:]...)
		}
		known := len(k.frames)
		for range rapid.IntRange(0, 30).Draw(t, "after") {
			k.happens(t)
		}
		heard = append(heard[:len(heard):len(heard)], k.frames[known:]...)
		if len(k.senders) > 0 {
			heard = append(heard, k.message(rapid.IntRange(1, len(k.senders)).Draw(t, "again")))
		}
		heard = append(heard, heard...)
		for _, f := range rapid.Permutation(heard).Draw(t, "order") {
			device.Apply(f)
		}
		if got, ok := device.Unread("s"); !ok || got != int64(k.unread("ada")) {
			t.Fatalf("counts %d (%t), want %d", got, ok, k.unread("ada"))
		}
		if got := device.Badge(); got != int64(k.unread("ada")) {
			t.Fatalf("badge %d, want %d", got, k.unread("ada"))
		}
	})
}

func TestNothingIsUnreadInAConversationThatIsNotKnown(t *testing.T) {
	r := NewReducer()
	k := newTalk()
	for _, f := range k.frames {
		r.Apply(f)
	}
	if got, ok := r.Unread("s"); ok {
		t.Errorf("%d for nobody", got)
	}
	r.Of("ada")
	if got, ok := r.Unread("s"); !ok || got != 0 {
		t.Errorf("%d, %t", got, ok)
	}
	r.Apply(frameOf(HubWebSocketFrameTypeMessageNew, `{"id":"m","session_id":"other","seq_id":1,"sender_id":"bob"}`))
	if got, ok := r.Unread("other"); ok {
		t.Errorf("%d of a conversation that is not known", got)
	}
}

func TestWhoLeavesAndJoinsCountsAnew(t *testing.T) {
	r := NewReducer()
	r.Of("ada")
	k := newTalk()
	k.senders = []UserID{"bob", "bob", "bob"}
	frames := slices.Concat(k.frames, []HubWebSocketFrame{
		k.message(1), k.message(2), k.message(3),
		frameOf(HubWebSocketFrameTypeSessionMemberLeft, `{"session_id":"s","member_id":"ada"}`),
		frameOf(HubWebSocketFrameTypeSessionCreated, `{"session_id":"s","members":[{"member_id":"ada"}],"last_seq":7}`),
		frameOf(HubWebSocketFrameTypeMessageNew, `{"id":"m8","session_id":"s","seq_id":8,"sender_id":"bob"}`),
	})
	for _, f := range frames {
		r.Apply(f)
	}
	if got, ok := r.Unread("s"); !ok || got != 1 {
		t.Errorf("%d, %t; want 1", got, ok)
	}
}

func TestTheBadgeLeavesOutWhatIsMutedOrDissolved(t *testing.T) {
	r := NewReducer()
	r.Of("ada")
	for i, s := range []string{"a", "b", "c"} {
		r.Apply(frameOf(HubWebSocketFrameTypeSessionCreated, fmt.Sprintf(`{"session_id":%q,"members":[]}`, s)))
		r.Apply(frameOf(HubWebSocketFrameTypeMessageNew, fmt.Sprintf(`{"id":"m%d","session_id":%q,"seq_id":1,"sender_id":"bob"}`, i, s)))
	}
	if got := r.Badge(); got != 3 {
		t.Errorf("badge %d, want 3", got)
	}
	r.Apply(frameOf(HubWebSocketFrameTypeSessionInfoUpdated, `{"session_id":"a","changes":{"muted":true,"settings_version":1}}`))
	r.Apply(frameOf(HubWebSocketFrameTypeSessionDissolved, `{"session_id":"b"}`))
	if got := r.Badge(); got != 1 {
		t.Errorf("badge %d, want 1", got)
	}
}

func TestReadMarksAreThoseOfWhoIsIn(t *testing.T) {
	r := NewReducer()
	k := newTalk()
	k.senders = []UserID{"bob"}
	k.marks["ada"], k.marks["bob"], k.marks["eve"] = 1, 1, 1
	for _, who := range []UserID{"ada", "eve"} {
		k.tell(HubWebSocketFrameTypeMessageRead, "%s", k.reading(who))
	}
	for _, f := range k.frames {
		r.Apply(f)
	}
	if got := r.ReadMarks("s"); !maps.Equal(got, map[UserID]SeqID{"ada": 1}) {
		t.Errorf("marks %v", got)
	}
	if got := r.ReadMarks("none"); len(got) != 0 {
		t.Errorf("marks %v of nothing", got)
	}
}
