package lossyfs

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// ErrUnable is returned where file systems cannot be mounted: there is no /dev/fuse, or this user may not.
var ErrUnable = errors.New("no file system can be mounted here")

// Mount is a disk that is mounted. Its methods are for one goroutine.
type Mount struct {
	disk   *Disk
	dir    string
	server *fuse.Server
}

// Mount mounts the disk at dir, which must exist.
func (d *Disk) Mount(dir string) (*Mount, error) {
	if err := able(); err != nil {
		return nil, err
	}
	m := &Mount{disk: d, dir: dir}
	if err := m.mount(); err != nil {
		return nil, err
	}
	return m, nil
}

func able() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("%w: this user may not", ErrUnable)
	}
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnable, err)
	}
	return device.Close()
}

// cached is how long the kernel may trust what it knows of names and sizes: nobody else changes them.
const cached = time.Hour

func (m *Mount) mount() error {
	timeout := cached
	server, err := fs.Mount(m.dir, &node{disk: m.disk, at: m.disk.root}, &fs.Options{
		EntryTimeout: &timeout, AttrTimeout: &timeout,
		MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "lossyfs", Name: "lossyfs", DisableXAttrs: true},
	})
	if errors.Is(err, syscall.EPERM) {
		return fmt.Errorf("%w: %w", ErrUnable, err)
	}
	if err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	m.server = server
	return nil
}

// Cut cuts the power of the disk and switches it on again. Programs that have used it should be gone: what they still do fails.
func (m *Mount) Cut() error {
	m.disk.power(false)
	if err := m.Unmount(); err != nil {
		return err
	}
	m.disk.cut()
	m.disk.power(true)
	return m.mount()
}

// Unmount takes the disk away, from whoever uses it too. What is on it stays.
func (m *Mount) Unmount() error {
	if err := syscall.Unmount(m.dir, syscall.MNT_FORCE|syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	m.server.Wait()
	return nil
}

func (d *Disk) power(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.offline = !on
}
