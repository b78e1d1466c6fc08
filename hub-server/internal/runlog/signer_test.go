package runlog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func testSigner(t *testing.T, key byte) *Signer {
	t.Helper()
	s, err := NewSigner([]byte(strings.Repeat(string(key), minSignerKey)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAShortKeyIsRefused(t *testing.T) {
	if _, err := NewSigner([]byte("secret")); err == nil {
		t.Error("a key of six bytes was taken")
	}
}

// The first signature is part of what edges keep for years: the bytes that are signed must not change.
func TestSignaturesOfThePastStayGood(t *testing.T) {
	s := testSigner(t, 'k')
	edge := id.Edge("edge_018f0000-0000-7000-8000-000000000001")
	receipt := s.Receipt(edge, wire.CommitReceipt{Incarnation: "00000000000000aa", Seq: 7, Epoch: "00000000000000bb"})
	if want := goldenReceipt; receipt.Signature != want {
		t.Errorf("receipt is signed %s, was %s", receipt.Signature, want)
	}
	command := s.Command(edge, wire.Command{
		DeliveryID: "dlv_018f0000-0000-7000-8000-000000000002", Kind: wire.Start, RunID: "run_00000000000000ff", Lease: 3, Body: json.RawMessage(`{}`),
	})
	if want := goldenCommand; command.Signature != want {
		t.Errorf("command is signed %s, was %s", command.Signature, want)
	}
}

const (
	goldenReceipt = "164ddae0a9bdee8bbb030bdb8f4b4576c37911893e211479f666c96870a09174"
	goldenCommand = "3b40e443633a92d9111f9edeaa215b5ee5720d4f9c909d92a22cf02b338189e2"
)

func TestASignatureCoversEveryField(t *testing.T) {
	s, edge := testSigner(t, 'k'), id.NewEdge()
	good := s.Receipt(edge, wire.CommitReceipt{Incarnation: "aa", Seq: 7, Epoch: "bb"})
	if !s.CheckReceipt(edge, good) {
		t.Fatal("our own receipt is refused")
	}
	for name, forge := range map[string]func(*wire.CommitReceipt){
		"incarnation": func(r *wire.CommitReceipt) { r.Incarnation = "ab" },
		"seq":         func(r *wire.CommitReceipt) { r.Seq++ },
		"chain":       func(r *wire.CommitReceipt) { r.Chain[0]++ },
		"epoch":       func(r *wire.CommitReceipt) { r.Epoch = "bc" },
		"shift":       func(r *wire.CommitReceipt) { r.Incarnation, r.Epoch = "aab", "b" },
		"signature":   func(r *wire.CommitReceipt) { r.Signature = "" },
	} {
		bad := good
		forge(&bad)
		if s.CheckReceipt(edge, bad) {
			t.Errorf("receipt with another %s is accepted", name)
		}
	}
	if s.CheckReceipt(id.NewEdge(), good) || testSigner(t, 'x').CheckReceipt(edge, good) {
		t.Error("the receipt holds for another edge or key")
	}

	order := s.Command(edge, wire.Command{DeliveryID: "d", Kind: wire.Cancel, RunID: "r", Lease: 1, Body: json.RawMessage(`{}`)})
	if !s.CheckCommand(edge, order) {
		t.Fatal("our own command is refused")
	}
	for name, forge := range map[string]func(*wire.Command){
		"delivery": func(c *wire.Command) { c.DeliveryID = "e" },
		"kind":     func(c *wire.Command) { c.Kind = wire.Start },
		"run":      func(c *wire.Command) { c.RunID = "s" },
		"lease":    func(c *wire.Command) { c.Lease++ },
		"body":     func(c *wire.Command) { c.Body = json.RawMessage(`{ }`) },
	} {
		bad := order
		forge(&bad)
		if s.CheckCommand(edge, bad) {
			t.Errorf("command with another %s is accepted", name)
		}
	}
	mixed := wire.CommitReceipt{Signature: order.Signature}
	if s.CheckCommand(id.NewEdge(), order) || s.CheckReceipt(edge, mixed) {
		t.Error("the command's signature holds elsewhere")
	}
}
