package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// verdict is what the devices saw beside what was recorded.
type verdict struct {
	a, b *seen
	runs []client.RunID
	logs map[client.RunID][]client.RunEvent
}

// identical says whether both devices saw the same, and of each run what its log holds.
func (v verdict) identical() bool {
	same := v.a.reducer.Digest() == v.b.reducer.Digest() && len(v.runs) > 0
	for _, run := range v.runs {
		log := v.logs[run]
		recorded := client.LogDigest(log)
		same = same && len(log) > 0 && v.a.reducer.RunDigest(run) == recorded && v.b.reducer.RunDigest(run) == recorded
	}
	return same
}

func (v verdict) print(w io.Writer) {
	fmt.Fprintf(w, "\nEverything, in order, by business key:\n")
	fmt.Fprintf(w, "  device a  %4d facts  %s\n", v.a.reducer.Len(), v.a.reducer.Digest())
	fmt.Fprintf(w, "  device b  %4d facts  %s\n", v.b.reducer.Len(), v.b.reducer.Digest())
	for _, run := range v.runs {
		fmt.Fprintf(w, "\nThe run %s:\n", run)
		fmt.Fprintf(w, "  device a  %4d events %s\n", v.a.reducer.Watermark(run), v.a.reducer.RunDigest(run))
		fmt.Fprintf(w, "  device b  %4d events %s\n", v.b.reducer.Watermark(run), v.b.reducer.RunDigest(run))
		fmt.Fprintf(w, "  the log   %4d events %s\n", len(v.logs[run]), client.LogDigest(v.logs[run]))
	}
	fmt.Fprintln(w)
}

// judge compares what the devices saw with each other and with the runs' logs, and prints the digests.
func (s *story) judge(ctx context.Context, a, b *seen, runs []client.RunID) error {
	v := verdict{a: a, b: b, runs: runs, logs: map[client.RunID][]client.RunEvent{}}
	for _, run := range runs {
		log, err := s.log(ctx, run)
		if err != nil {
			return err
		}
		v.logs[run] = log
	}
	v.print(s.out)
	if !v.identical() {
		return errors.New("the devices and the log differ")
	}
	s.tell("identical")
	return nil
}

// log reads the run's log from the record.
func (s *story) log(ctx context.Context, run client.RunID) ([]client.RunEvent, error) {
	p, err := s.yard(ctx, "yard events", "--json", "events", run)
	if err != nil {
		return nil, err
	}
	var events []client.RunEvent
	for {
		var e client.RunEvent
		err := p.next(&e)
		if errors.Is(err, io.EOF) {
			return events, p.wait()
		}
		if err != nil {
			return nil, errors.Join(err, p.kill(), p.wait())
		}
		events = append(events, e)
	}
}
