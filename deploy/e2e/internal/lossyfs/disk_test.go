package lossyfs

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// reference is what a disk must do, written down in another way: of each sector all that it may hold after a cut, of each name all that it
// may mean.
type reference struct {
	now   map[string]*file
	after map[string]map[*file]bool // what a name may lead to after a cut; nil among it: to nothing
	files []*file
}

type file struct {
	inode *inode
	bytes []byte
	after map[int64]map[string]bool // what a sector may hold after a cut, with zeros up to its end
	long  map[int]bool              // lengths that are possible after a cut
}

const (
	fileNames = 3
	maxLength = 4 * sector
)

func padded(all []byte, n int64) string {
	var s [sector]byte
	if at := n * sector; at < int64(len(all)) {
		copy(s[:], all[at:])
	}
	return string(s[:])
}

func (f *file) sync() {
	f.after, f.long = map[int64]map[string]bool{}, map[int]bool{len(f.bytes): true}
	for n := range int64(maxLength / sector) {
		f.after[n] = map[string]bool{padded(f.bytes, n): true}
	}
}

func (f *file) write(at int64, data []byte) {
	f.bytes = change{at, data}.applyTo(slices.Clone(f.bytes))
	for n, may := range f.after {
		for old := range maps.Clone(may) {
			sectorNow := []byte(old)
			for i, b := range data {
				if where := at + int64(i) - n*sector; where >= 0 && where < sector {
					sectorNow[where] = b
				}
			}
			may[string(sectorNow)] = true
		}
	}
	for long := range maps.Clone(f.long) {
		for i := range data {
			f.long[max(long, int(at)+i+1)] = true
		}
	}
}

func (r *reference) name(name string, f *file) {
	if f == nil {
		delete(r.now, name)
	} else {
		r.now[name] = f
	}
	r.after[name][f] = true
}

func (r *reference) syncNames() {
	for n := range fileNames {
		r.after[fmt.Sprint(n)] = map[*file]bool{r.now[fmt.Sprint(n)]: true}
	}
}

// machine is a disk and what is expected of it.
type machine struct {
	disk *Disk
	reference
}

func newMachine(seed uint64) *machine {
	m := &machine{disk: New(seed), reference: reference{now: map[string]*file{}, after: map[string]map[*file]bool{}}}
	m.syncNames()
	return m
}

func (m *machine) actions() map[string]func(*rapid.T) {
	some := rapid.SampledFrom([]string{"0", "1", "2"})
	with := func(t *rapid.T, f func(*file)) {
		if found := m.now[some.Draw(t, "name")]; found != nil {
			f(found)
		}
	}
	return map[string]func(*rapid.T){
		"make": func(t *rapid.T) {
			name := some.Draw(t, "name")
			i, errno := m.disk.make(m.disk.root, name, syscall.S_IFREG, "")
			if (errno == 0) != (m.now[name] == nil) {
				t.Fatalf("make: %v", errno)
			}
			if errno == 0 {
				f := &file{inode: i}
				f.sync()
				m.files = append(m.files, f)
				m.name(name, f)
			}
		},
		"remove": func(t *rapid.T) {
			name := some.Draw(t, "name")
			errno := m.disk.remove(m.disk.root, name)
			if (errno == 0) != (m.now[name] != nil) {
				t.Fatalf("remove: %v", errno)
			}
			if errno == 0 {
				m.name(name, nil)
			}
		},
		"rename": func(t *rapid.T) {
			from, to := some.Draw(t, "from"), some.Draw(t, "to")
			errno := m.disk.move(m.disk.root, from, to)
			if (errno == 0) != (m.now[from] != nil) {
				t.Fatalf("rename: %v", errno)
			}
			if errno == 0 && from != to {
				moved := m.now[from]
				m.name(from, nil)
				m.name(to, moved)
			}
		},
		"write": func(t *rapid.T) {
			with(t, func(f *file) {
				at := rapid.Int64Range(0, maxLength-1).Draw(t, "at")
				data := bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, rapid.IntRange(1, int(maxLength-at)).Draw(t, "length"))
				if len(f.after[at/sector]) > 64 {
					return // the reference counts all that may be
				}
				if n, errno := m.disk.write(f.inode, at, data); errno != 0 || n != len(data) {
					t.Fatalf("write: %d, %v", n, errno)
				}
				f.write(at, data)
			})
		},
		"fsync": func(t *rapid.T) { with(t, func(f *file) { m.disk.sync(f.inode); f.sync() }) },
		"fsync of the folder": func(*rapid.T) {
			m.disk.sync(m.disk.root)
			m.syncNames()
		},
		"": func(t *rapid.T) { m.checkNow(t) },
	}
}

func (m *machine) checkNow(t *rapid.T) {
	used := int64(0)
	for n := range fileNames {
		name := fmt.Sprint(n)
		i, errno := m.disk.lookup(m.disk.root, name)
		want := m.now[name]
		if (errno == 0) != (want != nil) || want != nil && i != want.inode {
			t.Fatalf("%s leads to %v (%v), want %v", name, i, errno, want)
		}
		if want != nil {
			used += inodeSize + int64(len(want.bytes))
			if got, _ := m.disk.read(i, 0, make([]byte, 2*maxLength)); !bytes.Equal(got, want.bytes) {
				t.Fatalf("%s holds %d bytes, want %d, or others", name, len(got), len(want.bytes))
			}
		}
	}
	if m.disk.used != used {
		t.Fatalf("%d bytes are used, want %d", m.disk.used, used)
	}
}

func (m *machine) checkAfterCut(t *rapid.T) {
	for n := range fileNames {
		name := fmt.Sprint(n)
		i := m.disk.root.names.volatile[name]
		var found *file
		for _, f := range m.files {
			if f.inode == i {
				found = f
			}
		}
		if !m.after[name][found] {
			t.Fatalf("%s leads where it cannot", name)
		}
		if found == nil {
			continue
		}
		held, _ := m.disk.read(i, 0, make([]byte, 2*maxLength))
		if !found.long[len(held)] {
			t.Fatalf("%s is %d bytes long, which it cannot be", name, len(held))
		}
		for n, may := range found.after {
			if !may[padded(held, n)] {
				t.Fatalf("sector %d of %s holds what it cannot", n, name)
			}
		}
	}
}

func TestADiskHoldsWhatWasWrittenAndAfterACutAtLeastWhatWasSynced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(rapid.Uint64().Draw(t, "seed"))
		t.Repeat(m.actions())
		m.disk.cut()
		m.checkAfterCut(t)
	})
}

// What is tried above would hold of a disk that loses nothing, too.
func TestACutLosesWhatWasNotSyncedSooner(t *testing.T) {
	lost, torn, kept, nameless := 0, 0, 0, 0
	for seed := range uint64(200) {
		d := New(seed)
		i, _ := d.make(d.root, "file", syscall.S_IFREG, "")
		d.sync(d.root)
		d.make(d.root, "another", syscall.S_IFREG, "")
		d.write(i, 0, bytes.Repeat([]byte{'x'}, 8*sector))
		d.cut()
		switch n := bytes.Count(i.content.volatile, []byte{'x'}); n {
		case 0:
			lost++
		case 8 * sector:
			kept++
		default:
			torn++
		}
		if d.root.names.volatile["another"] == nil {
			nameless++
		}
	}
	if lost < 20 || torn < 20 || kept < 20 || nameless < 20 {
		t.Errorf("of 200 writes %d were lost, %d torn, %d kept; %d names were lost", lost, torn, kept, nameless)
	}
}

func TestALyingDiskLosesEverythingSinceItLies(t *testing.T) {
	d := New(1)
	i, _ := d.make(d.root, "file", syscall.S_IFREG, "")
	d.write(i, 0, []byte("before"))
	d.Sync()
	d.Lie()
	d.write(i, 0, []byte("after "))
	if errno := d.sync(i); errno != 0 {
		t.Fatal(errno)
	}
	d.cut()
	if got, _ := d.read(i, 0, make([]byte, 10)); string(got) != "before" {
		t.Errorf("it holds %q", got)
	}
}

func TestAFullDiskTakesNothingNewAndLetsWhatIsThereBeChanged(t *testing.T) {
	d := New(1)
	i, _ := d.make(d.root, "file", syscall.S_IFREG, "")
	d.write(i, 0, make([]byte, 1000))
	d.Limit(d.Used() + 100)
	if n, errno := d.write(i, 1000, make([]byte, 200)); n != 100 || errno != 0 {
		t.Errorf("a write across the limit: %d, %v", n, errno)
	}
	if _, errno := d.write(i, 1100, make([]byte, 1)); errno != syscall.ENOSPC {
		t.Errorf("a write beyond the limit: %v", errno)
	}
	if _, errno := d.make(d.root, "another", syscall.S_IFREG, ""); errno != syscall.ENOSPC {
		t.Errorf("another file: %v", errno)
	}
	if errno := d.truncate(i, 2000); errno != syscall.ENOSPC {
		t.Errorf("a greater length: %v", errno)
	}
	if n, errno := d.write(i, 0, make([]byte, 1100)); n != 1100 || errno != 0 {
		t.Errorf("a write over what is there: %d, %v", n, errno)
	}
	if errno := d.truncate(i, 0); errno != 0 {
		t.Error(errno)
	}
	if _, errno := d.make(d.root, "another", syscall.S_IFREG, ""); errno != 0 {
		t.Errorf("another file once there is space: %v", errno)
	}
}
