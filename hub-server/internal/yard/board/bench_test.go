package board

import (
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

// A word more of what an agent says, and the screen with it.
func BenchmarkAWordMore(b *testing.B) {
	d := day(nobody{}, screen.Coloured(), 120, 40)
	for b.Loop() {
		d.event("run.agent.text_delta", `{"message_id":"m1","content_index":0,"delta":" word"}`)
		d.View()
	}
}
