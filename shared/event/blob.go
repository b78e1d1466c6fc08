package event

import (
	"bytes"
	"encoding/json"
)

// BlobRef names bytes that were uploaded beside the log.
type BlobRef struct {
	SHA256 string `json:"sha256"` // 64 lower-case hex digits
	Size   int64  `json:"size"`
}

// BlobFields are the keys of payloads that point at what stands for another of their keys.
func BlobFields() []string {
	return []string{"content_blob", "arguments_blob", "result_blob", "images_blob", "input_blob", "system_prompt_blob", "tools_blob"}
}

// BlobRefs are the blobs that a payload points at with such keys.
func BlobRefs(payload json.RawMessage) (refs []BlobRef) {
	if !bytes.Contains(payload, []byte(`_blob"`)) {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(payload, &fields) != nil {
		return nil
	}
	for _, name := range BlobFields() {
		var ref BlobRef
		if value := fields[name]; len(value) > 0 && json.Unmarshal(value, &ref) == nil && ref.SHA256 != "" {
			refs = append(refs, ref)
		}
	}
	return refs
}
