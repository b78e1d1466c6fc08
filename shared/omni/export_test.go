package omni

// Bounded is an Aggregator whose fragments have less content than usual, for tests.
func Bounded(limit int) Aggregator { return Aggregator{limit: limit} }

// Members returns the members of an object, for tests.
func Members(object []byte) (keys []string, values [][]byte) {
	for key, at := range members(object) {
		keys, values = append(keys, string(key)), append(values, at.in(object))
	}
	return keys, values
}

// Elements returns the elements of a list, for tests.
func Elements(list []byte) (values [][]byte) {
	for _, value := range elements(list) {
		values = append(values, value)
	}
	return values
}
