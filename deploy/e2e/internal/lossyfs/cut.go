package lossyfs

import (
	"maps"
	"slices"
)

// cut is the loss of power: what was not synced is gone, but for what chance keeps. Then the disk is as new: nothing is pending.
func (d *Disk) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	luck := drawLuck(d.random)
	if d.lying {
		luck.odds = 0
	}
	for _, i := range d.tree() {
		i.links = 0
	}
	d.root.cut(luck, map[*inode]bool{})
	d.used = 0
	for _, i := range d.tree() {
		d.used += inodeSize + int64(len(i.content.volatile))
		for _, below := range i.names.volatile {
			below.links++
		}
	}
}

// cut goes down by durable names alone, in their order, so that chance falls alike each time.
func (i *inode) cut(luck luck, done map[*inode]bool) {
	if done[i] {
		return
	}
	done[i] = true
	i.content.cut(luck)
	i.names.cut(luck)
	for _, name := range slices.Sorted(maps.Keys(i.names.volatile)) {
		i.names.volatile[name].cut(luck, done)
	}
}

// tree lists every inode that a name leads to.
func (d *Disk) tree() (all []*inode) {
	seen := map[*inode]bool{}
	var visit func(*inode)
	visit = func(i *inode) {
		if seen[i] {
			return
		}
		seen[i] = true
		all = append(all, i)
		for _, below := range i.names.volatile {
			visit(below)
		}
	}
	visit(d.root)
	return all
}
