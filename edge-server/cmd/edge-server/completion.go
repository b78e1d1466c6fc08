package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is shown below the usage.
func (completionCommand) Help() string {
	return `Examples:
  source <(edge-server completion bash)
  edge-server completion zsh > "${fpath[1]}/_edge-server"
  edge-server completion fish > ~/.config/fish/completions/edge-server.fish`
}

const bashCompletion = `_edge_server() {
	local IFS=$'\n'
	COMPREPLY=($(edge-server complete-words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _edge_server edge-server
`

const zshCompletion = `#compdef edge-server
_edge_server() {
	local -a found
	found=("${(@f)$(edge-server complete-words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	compadd -a found || _files
}
if [ "$funcstack[1]" = "_edge-server" ]; then _edge_server "$@"; else compdef _edge_server edge-server; fi
`

const fishCompletion = `complete -c edge-server -a '(edge-server complete-words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`

// Run prints a script that asks this program for what may come next.
func (c completionCommand) Run(p program) error {
	script := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	_, err := io.WriteString(p.stdout, script)
	return err
}

type completeCommand struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints what the last of the words may become, one a line.
func (c completeCommand) Run(p program, app *kong.Kong) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, candidate := range complete(app.Model.Node, words) {
		if _, err := fmt.Fprintln(p.stdout, candidate); err != nil {
			return err
		}
	}
	return nil
}

// complete returns what the last word may become: a command, a flag, or a value from a closed list. Behind -- stands an agent's command line, of
// which nothing is known here.
func complete(node *kong.Node, words []string) []string {
	if len(words) == 0 || slices.Contains(words[:len(words)-1], "--") {
		return nil
	}
	last, words := words[len(words)-1], words[:len(words)-1]
	for _, word := range words {
		if i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word }); i >= 0 {
			node = node.Children[i]
		}
	}
	var offered []string
	switch {
	case strings.HasPrefix(last, "-"):
		for _, group := range node.AllFlags(true) {
			for _, flag := range group {
				offered = append(offered, "--"+flag.Name)
			}
		}
	case len(words) > 0 && strings.HasPrefix(words[len(words)-1], "--"):
		offered = valuesOf(node, words[len(words)-1])
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				offered = append(offered, child.Name)
			}
		}
		for _, argument := range node.Positional {
			offered = append(offered, argument.EnumSlice()...)
		}
	}
	return slices.DeleteFunc(offered, func(word string) bool { return word == "" || !strings.HasPrefix(word, last) })
}

// valuesOf returns what may follow a flag, where that is a closed list.
func valuesOf(node *kong.Node, flag string) []string {
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			if "--"+f.Name == flag {
				return f.EnumSlice()
			}
		}
	}
	return nil
}
