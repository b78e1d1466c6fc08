package client

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Credentials are what a device needs to speak for its user. They are secrets: keep them in a file of mode 0600.
type Credentials struct {
	UserID       UserID    `json:"user_id"`
	Username     Username  `json:"username"`
	DeviceID     DeviceID  `json:"device_id"`
	AccessToken  string    `json:"access_token"`
	ExpiresAt    time.Time `json:"expires_at"` // of the access token, by this machine's clock
	RefreshToken Secret    `json:"refresh_token"`
}

// CredentialsOf keeps what an answer with tokens says.
func CredentialsOf(t Tokens) Credentials {
	return Credentials{
		UserID: t.User.ID, Username: t.User.Username, DeviceID: t.Device.ID,
		AccessToken: t.AccessToken, RefreshToken: t.RefreshToken,
		ExpiresAt: time.Now().Round(0).Add(time.Duration(t.ExpiresIn) * time.Second), // Round: the monotonic clock stands still while a machine sleeps
	}
}

// ErrLoggedOut says that there are no credentials, or that the hub does not take them any more. Log in again.
var ErrLoggedOut = errors.New("not logged in")

// Keeper holds the credentials of one device. Safe for concurrent use.
type Keeper interface {
	// Load returns the newest credentials, ErrLoggedOut if there are none.
	Load() (Credentials, error)
	// Update replaces the newest credentials by what change makes of them, durably, while nobody else who holds the same ones, in this
	// process or another, can do so: a refresh token works once. An error of change changes nothing and is returned, and so is that of a disk
	// that is full: the Client has the new ones in memory then and comes with them again. The end of ctx ends the waiting for others.
	Update(ctx context.Context, change func(Credentials) (Credentials, error)) error
}

// Forgetter is what a Keeper is too if it can lose its credentials. A device that was kicked calls it: whoever has the login now would be kicked
// by the next start of this program, and that one by whoever has it, without end.
type Forgetter interface {
	// Forget removes the credentials, durably, when an Update that is under way has ended. Load answers ErrLoggedOut from then on.
	Forget() error
}

// MemoryKeeper holds credentials for as long as the process lives.
type MemoryKeeper struct {
	turn chan struct{} // held by the one that updates

	mu          sync.Mutex
	credentials Credentials
}

// NewMemoryKeeper returns a keeper of c.
func NewMemoryKeeper(c Credentials) *MemoryKeeper {
	return &MemoryKeeper{turn: make(chan struct{}, 1), credentials: c}
}

// Load returns the newest credentials.
func (k *MemoryKeeper) Load() (Credentials, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.credentials.RefreshToken == "" {
		return Credentials{}, ErrLoggedOut
	}
	return k.credentials, nil
}

// Update replaces the credentials; see Keeper.
func (k *MemoryKeeper) Update(ctx context.Context, change func(Credentials) (Credentials, error)) error {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	now, err := k.Load()
	if err != nil {
		return err
	}
	next, err := change(now)
	if err != nil {
		return err
	}
	k.replace(next)
	return nil
}

// Forget removes the credentials; see Forgetter.
func (k *MemoryKeeper) Forget() error {
	k.turn <- struct{}{}
	defer func() { <-k.turn }()
	k.replace(Credentials{})
	return nil
}

func (k *MemoryKeeper) replace(c Credentials) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.credentials = c
}
