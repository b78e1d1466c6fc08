package lossyfs

import "maps"

// names is what a folder holds.
type names struct {
	durable  map[string]*inode
	volatile map[string]*inode
	pending  []naming // since the last sync, in order
}

// naming gives names a new meaning, all of them at once; nil: they go. A rename has two.
type naming map[string]*inode

func newNames() names { return names{durable: map[string]*inode{}, volatile: map[string]*inode{}} }

func (n *names) set(change naming) {
	change.applyTo(n.volatile)
	n.pending = append(n.pending, change)
}

func (n *names) sync() {
	for _, change := range n.pending {
		change.applyTo(n.durable)
	}
	n.pending = nil
}

// syncName makes one name durable as it is now.
func (n *names) syncName(name string) {
	naming{name: n.volatile[name]}.applyTo(n.durable)
}

// cut forgets what was not synced, but for what chance keeps.
func (n *names) cut(luck luck) {
	for _, change := range n.pending {
		if luck.kept() {
			change.applyTo(n.durable)
		}
	}
	n.volatile, n.pending = maps.Clone(n.durable), nil
}

func (change naming) applyTo(all map[string]*inode) {
	for name, i := range change {
		if i == nil {
			delete(all, name)
		} else {
			all[name] = i
		}
	}
}
