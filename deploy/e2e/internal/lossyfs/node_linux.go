package lossyfs

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// node is an inode as the kernel sees it through one mount.
type node struct {
	fs.Inode
	disk *Disk
	at   *inode
}

var (
	_ fs.NodeLookuper   = (*node)(nil)
	_ fs.NodeCreater    = (*node)(nil)
	_ fs.NodeMkdirer    = (*node)(nil)
	_ fs.NodeSymlinker  = (*node)(nil)
	_ fs.NodeReadlinker = (*node)(nil)
	_ fs.NodeLinker     = (*node)(nil)
	_ fs.NodeUnlinker   = (*node)(nil)
	_ fs.NodeRmdirer    = (*node)(nil)
	_ fs.NodeRenamer    = (*node)(nil)
	_ fs.NodeReaddirer  = (*node)(nil)
	_ fs.NodeOpener     = (*node)(nil)
	_ fs.NodeReader     = (*node)(nil)
	_ fs.NodeWriter     = (*node)(nil)
	_ fs.NodeFsyncer    = (*node)(nil)
	_ fs.NodeGetattrer  = (*node)(nil)
	_ fs.NodeSetattrer  = (*node)(nil)
)

// child is the node of an inode below n, with its attributes in out.
func (n *node) child(ctx context.Context, i *inode, out *fuse.EntryOut) *fs.Inode {
	n.disk.attributes(i, &out.Attr) //nolint:errcheck // without power nothing else works either
	return n.NewInode(ctx, &node{disk: n.disk, at: i}, fs.StableAttr{Mode: out.Mode & syscall.S_IFMT, Ino: i.number})
}

// Lookup implements fs.NodeLookuper.
func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	found, errno := n.disk.lookup(n.at, name)
	if errno != 0 {
		return nil, errno
	}
	return n.child(ctx, found, out), 0
}

func (n *node) make(ctx context.Context, name string, mode uint32, target string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	made, errno := n.disk.make(n.at, name, mode, target)
	if errno != 0 {
		return nil, errno
	}
	return n.child(ctx, made, out), 0
}

// Create implements fs.NodeCreater.
func (n *node) Create(
	ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut,
) (made *fs.Inode, handle fs.FileHandle, flags uint32, errno syscall.Errno) {
	made, errno = n.make(ctx, name, syscall.S_IFREG|mode&0o7777, "", out)
	return made, nil, 0, errno
}

// Mkdir implements fs.NodeMkdirer.
func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.make(ctx, name, syscall.S_IFDIR|mode&0o7777, "", out)
}

// Symlink implements fs.NodeSymlinker.
func (n *node) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.make(ctx, name, syscall.S_IFLNK|0o777, target, out)
}

// Readlink implements fs.NodeReadlinker.
func (n *node) Readlink(context.Context) ([]byte, syscall.Errno) { return []byte(n.at.target), 0 }

// Link implements fs.NodeLinker.
func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	to, ok := target.(*node)
	if !ok {
		return nil, syscall.EXDEV
	}
	if errno := n.disk.link(n.at, name, to.at); errno != 0 {
		return nil, errno
	}
	return n.child(ctx, to.at, out), 0
}

// Unlink implements fs.NodeUnlinker.
func (n *node) Unlink(_ context.Context, name string) syscall.Errno { return n.disk.remove(n.at, name) }

// Rmdir implements fs.NodeRmdirer.
func (n *node) Rmdir(_ context.Context, name string) syscall.Errno { return n.disk.remove(n.at, name) }

// Rename implements fs.NodeRenamer, within one folder.
func (n *node) Rename(_ context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	folder, ok := to.(*node)
	if !ok || folder.at != n.at || flags != 0 {
		return syscall.EXDEV
	}
	return n.disk.move(n.at, name, newName)
}

// Readdir implements fs.NodeReaddirer.
func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	var list []fuse.DirEntry
	errno := n.disk.do(func() syscall.Errno {
		for name, i := range n.at.names.volatile {
			list = append(list, fuse.DirEntry{Name: name, Mode: i.mode, Ino: i.number})
		}
		return 0
	})
	return fs.NewListDirStream(list), errno
}

// Open implements fs.NodeOpener. All openings of a file are alike, so there are no handles.
func (n *node) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if flags&syscall.O_TRUNC == 0 {
		return nil, fuse.FOPEN_KEEP_CACHE, 0
	}
	return nil, 0, n.disk.truncate(n.at, 0)
}

// Read implements fs.NodeReader.
func (n *node) Read(_ context.Context, _ fs.FileHandle, into []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	got, errno := n.disk.read(n.at, at, into)
	return fuse.ReadResultData(got), errno
}

// Write implements fs.NodeWriter.
func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, at int64) (uint32, syscall.Errno) {
	written, errno := n.disk.write(n.at, at, data)
	return uint32(written), errno
}

// Fsync implements fs.NodeFsyncer, for folders too.
func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno { return n.disk.sync(n.at) }

// Getattr implements fs.NodeGetattrer.
func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return n.disk.attributes(n.at, &out.Attr)
}

// Setattr implements fs.NodeSetattrer: length, permissions and time of modification.
func (n *node) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if length, ok := in.GetSize(); ok {
		if errno := n.disk.truncate(n.at, int64(length)); errno != 0 {
			return errno
		}
	}
	errno := n.disk.do(func() syscall.Errno {
		if mode, ok := in.GetMode(); ok {
			n.at.mode = n.at.mode&syscall.S_IFMT | mode&0o7777
		}
		if modified, ok := in.GetMTime(); ok {
			n.at.modified = modified
		}
		return 0
	})
	if errno != 0 {
		return errno
	}
	return n.Getattr(ctx, f, out)
}

// attributes fills in what is known of an inode.
func (d *Disk) attributes(i *inode, out *fuse.Attr) syscall.Errno {
	return d.do(func() syscall.Errno {
		out.Ino, out.Mode, out.Size, out.Nlink = i.number, i.mode, uint64(len(i.content.volatile)), uint32(i.links)
		if i.isFolder() {
			out.Nlink = 2
		}
		out.Blocks, out.Blksize = (out.Size+sector-1)/sector, 8*sector
		out.SetTimes(&i.modified, &i.modified, &i.modified)
		return 0
	})
}
