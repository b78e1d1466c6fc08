package lossyfs

import (
	"syscall"
	"time"
)

// The calls of a file system. Each holds mu and says how it failed; 0 is success.

// do runs a call unless the disk is off.
func (d *Disk) do(call func() syscall.Errno) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.offline {
		return syscall.EIO
	}
	return call()
}

func (d *Disk) lookup(in *inode, name string) (found *inode, errno syscall.Errno) {
	errno = d.do(func() syscall.Errno {
		if found = in.names.volatile[name]; found == nil {
			return syscall.ENOENT
		}
		return 0
	})
	return found, errno
}

// make makes a file, a folder or, with a target, a link.
func (d *Disk) make(in *inode, name string, mode uint32, target string) (made *inode, errno syscall.Errno) {
	errno = d.do(func() syscall.Errno {
		if in.names.volatile[name] != nil {
			return syscall.EEXIST
		}
		if d.room(inodeSize) < inodeSize {
			return syscall.ENOSPC
		}
		made = d.newInode(mode)
		made.target = target
		d.used += inodeSize
		d.rename(in, naming{name: made})
		return 0
	})
	return made, errno
}

// link gives a file another name.
func (d *Disk) link(in *inode, name string, to *inode) syscall.Errno {
	return d.do(func() syscall.Errno {
		if in.names.volatile[name] != nil {
			return syscall.EEXIST
		}
		d.rename(in, naming{name: to})
		return 0
	})
}

// remove takes a name away: of a folder that is empty, or of anything else.
func (d *Disk) remove(in *inode, name string) syscall.Errno {
	return d.do(func() syscall.Errno {
		gone := in.names.volatile[name]
		switch {
		case gone == nil:
			return syscall.ENOENT
		case len(gone.names.volatile) > 0:
			return syscall.ENOTEMPTY
		}
		d.rename(in, naming{name: nil})
		return 0
	})
}

// move renames within one folder.
func (d *Disk) move(in *inode, from, to string) syscall.Errno {
	return d.do(func() syscall.Errno {
		moved := in.names.volatile[from]
		if moved == nil {
			return syscall.ENOENT
		}
		if there := in.names.volatile[to]; there == moved {
			return 0
		} else if there != nil && len(there.names.volatile) > 0 {
			return syscall.ENOTEMPTY
		}
		d.rename(in, naming{from: nil, to: moved})
		return 0
	})
}

// rename applies a naming and gives back the space of what has lost its last name.
func (d *Disk) rename(in *inode, change naming) {
	var lost []*inode
	for name, now := range change {
		if before := in.names.volatile[name]; before != nil {
			lost = append(lost, before)
		}
		if now != nil {
			now.links++
		}
	}
	in.names.set(change)
	in.modified = time.Now()
	for _, i := range lost {
		if i.links--; i.links == 0 {
			d.used -= inodeSize + int64(len(i.content.volatile))
		}
	}
}

func (d *Disk) read(i *inode, at int64, into []byte) (got []byte, errno syscall.Errno) {
	errno = d.do(func() syscall.Errno {
		got = i.content.read(at, into)
		return 0
	})
	return got, errno
}

// write writes as much as there is space for. What is there already can always be overwritten.
func (d *Disk) write(i *inode, at int64, data []byte) (written int, errno syscall.Errno) {
	errno = d.do(func() syscall.Errno {
		grow := at + int64(len(data)) - int64(len(i.content.volatile))
		if grow > 0 {
			short := grow - d.room(grow)
			if data = data[:max(0, int64(len(data))-short)]; len(data) == 0 {
				return syscall.ENOSPC
			}
			if i.links > 0 {
				d.used += grow - short
			}
		}
		i.content.write(at, data)
		i.modified = time.Now()
		written = len(data)
		return 0
	})
	return written, errno
}

func (d *Disk) truncate(i *inode, length int64) syscall.Errno {
	return d.do(func() syscall.Errno {
		grow := length - int64(len(i.content.volatile))
		if grow > 0 && d.room(grow) < grow {
			return syscall.ENOSPC
		}
		if i.links > 0 {
			d.used += grow
		}
		i.content.truncate(length)
		i.modified = time.Now()
		return 0
	})
}

func (d *Disk) sync(i *inode) syscall.Errno {
	return d.do(func() syscall.Errno {
		if !d.lying {
			i.sync()
		}
		return 0
	})
}
