package event

// ImportedPayload is of run.imported. The line is what the trace has, byte for byte; of a sub-agent's with the chain of its session as origin.
type ImportedPayload struct {
	Line string `json:"line"`
}
