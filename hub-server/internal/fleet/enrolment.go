package fleet

import (
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// EnrolmentLifetime is how long an enrolment token waits to be redeemed.
const EnrolmentLifetime = 30 * time.Minute

// Enrolment lets one machine become one edge. The edge's id is fixed when the token is made, so a token can never take over an edge
// that exists.
type Enrolment struct {
	Edge      id.Edge
	Name      string
	Owner     id.User
	Token     account.Token // shown once
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Machine is how an edge describes itself when it enrols.
type Machine struct {
	Hostname string
	Version  string
}

// Redemption turns an enrolment into an edge.
type Redemption struct {
	Token      account.TokenHash
	Credential account.TokenHash
	Machine    Machine
	Now        time.Time
}

// EnrolmentStore keeps enrolments. Each write is one transaction; safe for concurrent use.
type EnrolmentStore interface {
	// AddEnrolment stores the enrolment with the claim; *account.Repeated when the attempt was answered before.
	AddEnrolment(ctx context.Context, e Enrolment, claim account.Claim) error
	// Redeem uses up the token and makes the edge; EnrolmentInvalid when it is used, expired or unknown. Of two at the same time one wins.
	Redeem(ctx context.Context, r Redemption) (id.Edge, error)
}

// Enrolments makes tokens for new edges and redeems them (SEC15). Safe for concurrent use.
type Enrolments struct {
	Store    EnrolmentStore
	Attempts *account.Attempts
	Now      account.Clock
}

// Create makes a token for one edge of the caller.
func (e *Enrolments) Create(ctx context.Context, by account.Principal, name string, attempt account.Attempt) (Enrolment, error) {
	if err := checkText("name", name, 1, maxLabel); err != nil {
		return Enrolment{}, err
	}
	type claimed = func(Enrolment) (account.Claim, error)
	return account.Once(ctx, e.Attempts, attempt, func(claim claimed) (Enrolment, error) {
		now := e.Now.Moment()
		made := Enrolment{
			Edge: id.NewEdge(), Name: name, Owner: by.User, Token: account.NewToken(account.EnrolmentToken),
			CreatedAt: now, ExpiresAt: now.Add(EnrolmentLifetime),
		}
		c, err := claim(made)
		if err != nil {
			return Enrolment{}, err
		}
		return made, e.Store.AddEnrolment(ctx, made, c)
	})
}

// Redeem makes the edge that the token names and returns the credential it will show from now on.
func (e *Enrolments) Redeem(ctx context.Context, token account.Token, m Machine) (id.Edge, account.Token, error) {
	if !token.Is(account.EnrolmentToken) {
		return "", "", enrolmentInvalid()
	}
	if err := m.check(); err != nil {
		return "", "", err
	}
	credential := account.NewToken(account.EdgeToken)
	edge, err := e.Store.Redeem(ctx, Redemption{Token: token.Hash(), Credential: credential.Hash(), Machine: m, Now: e.Now.Moment()})
	if err != nil {
		return "", "", err
	}
	return edge, credential, nil
}

func (m Machine) check() error {
	if err := checkText("hostname", m.Hostname, 1, maxHostname); err != nil {
		return err
	}
	return checkText("version", m.Version, 1, maxLabel)
}

func enrolmentInvalid() error {
	return fault.New(fault.EnrolmentInvalid, "The enrolment token was used, has expired or never existed. Make a new one with `yard edge enrol`.")
}
