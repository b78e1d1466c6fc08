//go:build !unix

package client

import "os"

// lockFile does nothing: the caller sees to it that one process at a time uses the folder.
func lockFile(*os.File) error { return nil }
