package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is shown below the usage.
func (completionCmd) Help() string {
	return `Examples:
  source <(yard completion bash)
  yard completion zsh > "${fpath[1]}/_yard"
  yard completion fish > ~/.config/fish/completions/yard.fish`
}

const bashCompletion = `_yard() {
	local IFS=$'\n'
	COMPREPLY=($(yard complete-words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _yard yard
`

const zshCompletion = `#compdef yard
_yard() {
	local -a found
	found=("${(@f)$(yard complete-words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	compadd -a found
}
if [ "$funcstack[1]" = "_yard" ]; then _yard "$@"; else compdef _yard yard; fi
`

const fishCompletion = `complete -c yard -f -a '(yard complete-words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`

// Run prints a script that asks this program for what may come next.
func (c completionCmd) Run(s *session) error {
	script := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	_, err := io.WriteString(s.Out, script)
	return err
}

type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints what the last of the words may become, one a line.
func (c completeCmd) Run(s *session) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, candidate := range complete(s.model.Node, words) {
		if _, err := fmt.Fprintln(s.Out, candidate); err != nil {
			return err
		}
	}
	return nil
}

// complete returns what the last word may become: a command, a flag, or a value from a closed list.
func complete(node *kong.Node, words []string) []string {
	last := ""
	if len(words) > 0 {
		last, words = words[len(words)-1], words[:len(words)-1]
	}
	for _, word := range words {
		if i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word }); i >= 0 {
			node = node.Children[i]
		}
	}
	var found []string
	offer := func(word string) {
		if strings.HasPrefix(word, last) {
			found = append(found, word)
		}
	}
	if strings.HasPrefix(last, "-") {
		for _, group := range node.AllFlags(true) {
			for _, flag := range group {
				offer("--" + flag.Name)
			}
		}
		return found
	}
	for _, child := range node.Children {
		if !child.Hidden {
			offer(child.Name)
		}
	}
	for _, argument := range node.Positional {
		for _, value := range argument.EnumSlice() {
			if value != "" {
				offer(value)
			}
		}
	}
	return found
}
