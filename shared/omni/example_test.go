package omni_test

import (
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// A model's answer arrives in pieces. Whoever hands them on closes the fragment and says what it adds up to.
func Example() {
	now := time.Date(2026, 7, 18, 7, 30, 0, 0, time.UTC)
	var a omni.Aggregator
	var c omni.Checker
	tell := func(p omni.Payload) {
		m, err := omni.New(now, p)
		if err != nil {
			fmt.Println(err)
			return
		}
		whole, err := a.Add(m)
		if err != nil {
			fmt.Println(err)
		}
		for _, m := range append([]omni.Message{m}, whole...) {
			if err := c.Add(m); err != nil {
				fmt.Println(err)
			}
			fmt.Println(string(m.Payload()))
		}
	}
	tell(omni.PartialText(omni.Start, ""))
	tell(omni.PartialText(omni.Delta, "There are "))
	tell(omni.PartialText(omni.Delta, "two."))
	tell(omni.PartialText(omni.Stop, ""))
	fmt.Println(c.End())
	tell(omni.ApprovalDecision("call_7", "maybe"))
	// Output:
	// {"type":"partial_text","role":"assistant","event_type":"start","text":""}
	// {"type":"partial_text","role":"assistant","event_type":"delta","text":"There are "}
	// {"type":"partial_text","role":"assistant","event_type":"delta","text":"two."}
	// {"type":"partial_text","role":"assistant","event_type":"stop","text":""}
	// {"type":"text","role":"assistant","text":"There are two."}
	// <nil>
	// payload.decision: is "maybe", which is none of allow, deny, forbidden
}
