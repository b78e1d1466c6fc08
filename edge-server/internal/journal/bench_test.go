package journal_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// BenchmarkAppend measures rows on disk per second: n runs that append without waiting, all flushed in the end.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 8} {
		b.Run(fmt.Sprintf("runs=%d", n), func(b *testing.B) {
			opts := options(b.TempDir())
			opts.Cap = 8 << 30
			j := open(b, opts)
			b.ResetTimer()
			var fns []func(context.Context) error
			for range n {
				r := id.NewRun()
				fns = append(fns, func(ctx context.Context) error {
					for range b.N / n {
						if err := j.Append(ctx, origin(r), state("some state of an agent")); err != nil {
							return err
						}
					}
					return j.Flush(ctx, r)
				})
			}
			if err := supervise.All(context.Background(), fns...); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkCommit measures the wait of somebody who needs a row on disk.
func BenchmarkCommit(b *testing.B) {
	j := open(b, options(b.TempDir()))
	r := id.NewRun()
	for b.Loop() {
		if err := j.Commit(context.Background(), origin(r), state("s")); err != nil {
			b.Fatal(err)
		}
	}
}
