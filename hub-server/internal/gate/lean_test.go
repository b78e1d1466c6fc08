package gate

import "testing"

// What is left of a buffer whose beginning is written is not worth lending again, nor is one that was made for a single large frame.
func TestOnlyWholeBuffersAreLentAgain(t *testing.T) {
	for name, put := range map[string][]byte{"a rest": make([]byte, 0, newBuffer)[newBuffer-8 : newBuffer-8], "a giant": make([]byte, 0, keptBuffer+1)} {
		var b bufferPool
		b.put(put)
		if got := cap(b.get()); got < newBuffer || got > keptBuffer {
			t.Errorf("%s of %d bytes was put, and %d were lent", name, cap(put), got)
		}
	}
}
