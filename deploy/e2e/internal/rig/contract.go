package rig

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/apicontract"
)

var contract = sync.OnceValues(func() (*apicontract.Validator, error) { return apicontract.New(context.Background()) })

// held returns a transport that fails the test when the hub's answers, or what it accepts, are not as the contract says. Measurements do
// without, and so does who may meet a hub of another version.
func (r *Rig) held() http.RoundTripper {
	r.T.Helper()
	if !testing.Testing() || r.opts.Mixed {
		return r.trust.transport()
	}
	validator, err := contract()
	if err != nil {
		r.T.Fatalf("read the contract: %v", err)
	}
	return &apicontract.Transport{Base: r.trust.transport(), Validator: validator, Report: func(err error) {
		if r.T.Context().Err() == nil { // a test that is over can fail no more
			r.T.Errorf("against the contract: %v", err)
		}
	}}
}
