package omni

// span is a stretch of places, both ends included.
type span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Loose is between which places messages stand on whose words the state depends yet, 0 and 0 for none: they wait to be told, or nothing but that
// they were so many has begun the context. What is done to others changes nothing that is told from here on.
func (s *State) Loose() (from, to int64) {
	all := s.held()
	if all == nil {
		all = s.kept.Crowd
	}
	if all == nil {
		return 0, 0
	}
	return all.From, all.To
}

// held is where the messages stand that wait, nil for none.
func (s *State) held() *span {
	if len(s.kept.Held) == 0 {
		return nil
	}
	return &span{s.kept.Held[0].Place, s.kept.Held[len(s.kept.Held)-1].Place}
}
