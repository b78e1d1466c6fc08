package uplink

// Looked returns when everything that other hubs have said so far was looked into.
func (h *Handler) Looked() { h.looking.Wait() }
