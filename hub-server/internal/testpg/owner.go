package testpg

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// owner is whom the server runs as. PostgreSQL refuses to run as root, so a root shell (a container, a build
// machine) lends it an account that can do nothing else.
type owner struct{ credential *syscall.Credential }

// unprivileged returns this process's own account, or, for root, the first harmless one there is.
func unprivileged() (*owner, error) {
	if os.Geteuid() != 0 {
		return &owner{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("read the ids of user %s: %w", name, err)
		}
		return &owner{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is no user postgres or nobody")
}

// take makes dir the owner's.
func (o *owner) take(dir string) error {
	if o.credential == nil {
		return nil
	}
	if err := os.Chown(dir, int(o.credential.Uid), int(o.credential.Gid)); err != nil {
		return fmt.Errorf("give PostgreSQL its folder: %w", err)
	}
	return nil
}

// attributes starts a process as the owner. It is outside our process group: Ctrl-C in a terminal reaches the test
// binary alone, which then stops the server in order.
func (o *owner) attributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Credential: o.credential, Setpgid: true}
	endWithParent(attributes)
	return attributes
}
