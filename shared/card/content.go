package card

import "encoding/json"

// Content is what a person says, part by part. On the wire it may also be one block, or a string (S0 §13 writes `content:{text:"Hi"}`). A block
// without a type is a text.
type Content []Block

// contentError says which of the forms content does not have.
type contentError struct{}

func (*contentError) Error() string { return "content is a list of blocks, one block or a string" }

// UnmarshalJSON reads each of the forms.
func (c *Content) UnmarshalJSON(text []byte) error {
	var blocks []Block
	switch text[0] {
	case '[':
		if json.Unmarshal(text, &blocks) != nil {
			return &contentError{}
		}
	case '{':
		blocks = make([]Block, 1)
		if json.Unmarshal(text, &blocks[0]) != nil {
			return &contentError{}
		}
	case '"':
		blocks = make([]Block, 1)
		if json.Unmarshal(text, &blocks[0].Text) != nil {
			return &contentError{}
		}
	case 'n':
		*c = nil
		return nil
	default:
		return &contentError{}
	}
	for i := range blocks {
		if blocks[i].Type == "" {
			blocks[i].Type = TextBlock
		}
	}
	*c = blocks
	return nil
}

// readMessage reads a message whose Content has all that is said, in whichever way it was sent.
func readMessage(text []byte) (ClientFrame, error) {
	frame, err := frameReader(UserMessage.check)(text)
	if f, ok := frame.(UserMessage); ok && f.Text != "" {
		f.Content, f.Text = Content{{Type: TextBlock, Text: f.Text}}, ""
		return f, nil
	}
	return frame, err
}
