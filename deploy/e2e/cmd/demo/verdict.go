package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// judge compares what the devices saw with each other and with the run's log, and prints the digests.
func (s *story) judge(ctx context.Context, a, b *seen, runs []client.RunID) error {
	same := a.reducer.Digest() == b.reducer.Digest()
	fmt.Fprintf(s.out, "\nEverything, in order, by business key:\n")
	fmt.Fprintf(s.out, "  device a  %4d facts  %s\n", a.reducer.Len(), a.reducer.Digest())
	fmt.Fprintf(s.out, "  device b  %4d facts  %s\n", b.reducer.Len(), b.reducer.Digest())
	for _, run := range runs {
		log, err := s.log(ctx, run)
		if err != nil {
			return err
		}
		recorded := client.LogDigest(log)
		fmt.Fprintf(s.out, "\nThe run %s:\n", run)
		fmt.Fprintf(s.out, "  device a  %4d events %s\n", a.reducer.Watermark(run), a.reducer.RunDigest(run))
		fmt.Fprintf(s.out, "  device b  %4d events %s\n", b.reducer.Watermark(run), b.reducer.RunDigest(run))
		fmt.Fprintf(s.out, "  the log   %4d events %s\n", len(log), recorded)
		same = same && len(log) > 0 && a.reducer.RunDigest(run) == recorded && b.reducer.RunDigest(run) == recorded
	}
	fmt.Fprintln(s.out)
	if !same {
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
