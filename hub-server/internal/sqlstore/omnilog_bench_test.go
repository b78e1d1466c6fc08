package sqlstore

import (
	"math/rand/v2"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
)

// BenchmarkOmniOpen measures how long somebody waits who reads a long conversation at a hub that knows nothing of it: for the first message of a stream
// that goes on from some place, and for the newest page of its history.
func BenchmarkOmniOpen(b *testing.B) {
	for name, address := range addresses() {
		s := openAt(b, address(b))
		startCheckpointer(b, s)
		w := startWriter(b, s)
		v := chatty(b, newRecord(b, s, w), benchEvents)
		first, err := folder(s, w, 0, omnilog.Page{}).View(b.Context(), v.session) // its checkpoints are stored
		if err != nil {
			b.Fatal(err)
		}
		random := rand.New(rand.NewPCG(8, 2))
		b.Run(name+"/stream", func(b *testing.B) {
			for b.Loop() {
				r, _, err := folder(s, w, 0, omnilog.Page{}).Follow(b.Context(), v.session, random.Int64N(first.Place-100))
				if err != nil {
					b.Fatal(err)
				}
				if entries, _, err := r.Read(b.Context(), 1<<15); err != nil || len(entries) == 0 {
					b.Fatalf("read %v, %v", entries, err)
				}
				r.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "µs/open")
		})
		b.Run(name+"/newest", func(b *testing.B) {
			for b.Loop() {
				h, err := folder(s, w, 0, omnilog.Page{}).Before(b.Context(), v.session, omnilog.AtTheEnd, 200)
				if err != nil || len(h.Items) != 200 {
					b.Fatalf("%d messages, %v", len(h.Items), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "µs/open")
		})
	}
}
