package localapi

import "sync"

// places bounds how many programs follow at the same time, and waits for them in the end. Safe for concurrent use.
type places struct {
	taken sync.WaitGroup // none is added once shut

	mu   sync.Mutex
	free int
	shut bool
}

// take says whether there was a place; if so it must be given back.
func (p *places) take() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut || p.free == 0 {
		return false
	}
	p.free--
	p.taken.Add(1)
	return true
}

func (p *places) give() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	p.taken.Done()
}

// close lets nobody in any more and waits for who is there; their context must have ended.
func (p *places) close() {
	p.mu.Lock()
	p.shut = true
	p.mu.Unlock()
	p.taken.Wait()
}
