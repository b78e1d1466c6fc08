package hub

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
)

// RotateKeys makes a new key sign access tokens; the one before it stays good. It may run beside any number of hubs.
func RotateKeys(c Config) error { return keysError(account.RotateKeyFile(c.KeysFile)) }

// keysError says which setting names the keys, and where they are to be had if they are not there.
func keysError(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("HUB_KEYS_FILE: %w; set HUB_HOME to the folder of the hub, and after a restore copy keys.json of the hub that made the backup", err)
	case err != nil:
		return fmt.Errorf("HUB_KEYS_FILE: %w", err)
	}
	return nil
}
