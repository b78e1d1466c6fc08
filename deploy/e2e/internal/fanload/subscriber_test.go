package fanload

import "testing"

// judged lets a subscriber see messages of one publisher, by number.
func judged(s *subscriber, numbers ...uint32) (n int64, err error) {
	for _, nth := range numbers {
		got, err := s.messages([]byte(`{"data":"`+stamped{at: 1e18, nth: nth}.payload()+`"}`), 2e18)
		if n += got; err != nil {
			return n, err
		}
	}
	return n, nil
}

func newSubscriber() *subscriber { return &subscriber{to: &hub{}, tally: newTally()} }

// The benchmark would be worth nothing if a server could win it by losing messages.
func TestWhatIsLostOrRepeatedIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		overlap bool
		numbers []uint32
		want    int64
		bad     bool
	}{
		"in order":                   {false, []uint32{5, 6, 7}, 3, false},
		"one is missing":             {false, []uint32{5, 7}, 1, true},
		"one comes twice":            {false, []uint32{5, 5}, 1, true},
		"one comes late":             {false, []uint32{5, 6, 5}, 2, true},
		"after a cut, an overlap":    {true, []uint32{4, 5, 6}, 1, false},
		"after a cut, a hole":        {true, []uint32{4, 5, 7}, 0, true},
		"the overlap ends once only": {true, []uint32{5, 6, 6}, 1, true},
	} {
		s := newSubscriber()
		if c.overlap {
			s.overlap, s.last[0] = true, 5
		}
		n, err := judged(s, c.numbers...)
		if n != c.want || (err != nil) != c.bad {
			t.Errorf("%s: %d messages, %v", name, n, err)
		}
	}
}

func TestTheTargetIsReachedOnce(t *testing.T) {
	s, reached := newSubscriber(), 0
	s.target, s.reached = 3, func() { reached++ }
	if _, err := judged(s, 1, 2); err != nil || reached != 0 {
		t.Errorf("reached %d times, %v", reached, err)
	}
	if _, err := judged(s, 3, 4, 5); err != nil || reached != 1 {
		t.Errorf("reached %d times, %v", reached, err)
	}
}
