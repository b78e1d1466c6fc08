package board

// field is what is asked for in the bottom line.
type field struct {
	label string
	edit  editor
	yes   bool // only y is an answer
	live  bool // every key counts: then is called at once, and not at the end
	then  func(text string) []Effect
}

// confirm asks before something is done that cannot be undone.
func (b *Board) confirm(label string, effect Effect) {
	b.field = &field{label: label + " y/n ", yes: true, then: func(string) []Effect { return []Effect{effect} }}
}

// fieldKey types into the bottom line.
func (b *Board) fieldKey(key, text string) []Effect {
	f := b.field
	switch {
	case key == "esc" || key == "ctrl+g":
		b.field = nil
		if f.live {
			return f.then("")
		}
		return nil
	case f.yes:
		b.field = nil
		if key == "y" {
			return f.then("")
		}
		return nil
	case key == "enter":
		b.field = nil
		if f.live {
			return nil
		}
		return f.then(f.edit.text)
	case !f.edit.key(key) && text != "":
		f.edit.insert(text)
	}
	if f.live {
		return f.then(f.edit.text)
	}
	return nil
}
