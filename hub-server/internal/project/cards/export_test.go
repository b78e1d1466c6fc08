package cards

// EncodeAs is Encode as hubs of a version did it.
func (s *State) EncodeAs(version byte) []byte { return s.encode(version) }
