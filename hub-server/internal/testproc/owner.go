// Package testproc starts the servers that tests stand on: as an account that can do nothing else, and ending with the test binary.
package testproc

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// Owner is whom a server runs as. PostgreSQL refuses to run as root, and no server of a test needs to; so a root shell (a container, a build
// machine) lends it another account.
type Owner struct{ credential *syscall.Credential }

// Unprivileged returns this process's own account, or, for root, the first of the names that exists.
func Unprivileged(names ...string) (*Owner, error) {
	if os.Geteuid() != 0 {
		return &Owner{}, nil
	}
	for _, name := range names {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("read the ids of user %s: %w", name, err)
		}
		return &Owner{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return nil, fmt.Errorf("this is root, and there is none of the users %q to run a server as", names)
}

// Take makes dir the owner's.
func (o *Owner) Take(dir string) error {
	if o.credential == nil {
		return nil
	}
	if err := os.Chown(dir, int(o.credential.Uid), int(o.credential.Gid)); err != nil {
		return fmt.Errorf("give the server its folder: %w", err)
	}
	return nil
}

// Attributes starts a process as the owner. It is outside our process group: Ctrl-C in a terminal reaches the test
// binary alone, which then stops the server in order.
func (o *Owner) Attributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Credential: o.credential, Setpgid: true}
	endWithParent(attributes)
	return attributes
}
