package hub

import "github.com/switchyard-dev/switchyard/hub-server/internal/account"

// RotateKeys makes a new key sign access tokens; the one before it stays good. It may run beside any number of hubs.
func RotateKeys(c Config) error { return account.RotateKeyFile(c.KeysFile) }
