// Package lossyfs is a file system for tests of power cuts and full disks. It keeps, of every file and folder, what has been synced and what
// has only been written. A cut drops the second, or parts of it, as the cache of a disk would; a limit makes the disk full.
//
// It promises as little as POSIX lets a file system promise: fsync of a file makes its bytes durable and not its name; a name that was made,
// changed or removed is durable after fsync of its folder. Without that, any of the changes may be there after a cut, or not, in any
// combination, and of a write any of its sectors. Only a rename is all or nothing.
package lossyfs

import (
	"math/rand/v2"
	"sync"
	"syscall"
	"time"
)

// Disk is what a file system is kept on. It is in memory and outlives its mounts. Safe for concurrent use.
type Disk struct {
	mu      sync.Mutex
	random  *rand.Rand
	root    *inode
	last    uint64 // number of an inode
	used    int64  // bytes of files that have a name, and a little for each file and folder
	limit   int64  // 0: none
	lying   bool
	offline bool
}

// New returns an empty disk. What survives its cuts follows from seed and from what was asked of it.
func New(seed uint64) *Disk {
	d := &Disk{random: rand.New(rand.NewPCG(seed, 2))}
	d.root = d.newInode(syscall.S_IFDIR | 0o700)
	return d
}

// inode is a file, a folder or a symbolic link.
type inode struct {
	number   uint64
	mode     uint32 // type and permissions
	links    int    // names that lead here
	modified time.Time
	target   string // of a link
	content  content
	names    names
}

func (d *Disk) newInode(mode uint32) *inode {
	d.last++
	return &inode{number: d.last, mode: mode, modified: time.Now(), names: newNames()}
}

func (i *inode) isFolder() bool { return i.mode&syscall.S_IFMT == syscall.S_IFDIR }

// What the space that an inode takes up beside its content counts as.
const inodeSize = 256

// Lie makes every fsync from now on succeed and do nothing, as a disk would that loses its cache. A cut then drops everything unsynced.
func (d *Disk) Lie() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lying = true
}

// Sync makes everything durable.
func (d *Disk) Sync() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.root.syncTree(map[*inode]bool{})
}

// SyncTree makes a name in the root folder durable, and everything below it.
func (d *Disk) SyncTree(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if below := d.root.names.volatile[name]; below != nil {
		below.syncTree(map[*inode]bool{d.root: true})
		d.root.names.syncName(name)
	}
}

func (i *inode) syncTree(done map[*inode]bool) {
	if done[i] {
		return
	}
	done[i] = true
	i.sync()
	for _, below := range i.names.volatile {
		below.syncTree(done)
	}
}

func (i *inode) sync() {
	i.content.sync()
	i.names.sync()
}

// Limit bounds what the disk holds, in bytes; 0: not at all. What is there stays, whatever the limit.
func (d *Disk) Limit(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limit = bytes
}

// Used is how many bytes the disk holds.
func (d *Disk) Used() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.used
}

// room is how many of n more bytes the disk has space for. Callers hold mu.
func (d *Disk) room(n int64) int64 {
	if d.limit == 0 {
		return n
	}
	return max(0, min(n, d.limit-d.used))
}
