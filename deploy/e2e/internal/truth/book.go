package truth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/shared/contentchain"
)

// Book is written by one agent process. Every item is in the file when its method returns, so it outlives a kill of the process.
// Not safe for concurrent use.
type Book struct {
	file    *os.File
	process int64
	chain   contentchain.Chain
}

// Open begins the account of one run at the end of the book at path.
func Open(path, prompt string) (*Book, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open book: %w", err)
	}
	b := &Book{file: file, process: time.Now().UnixNano()}
	if err := b.Say(Item{Kind: Began, Text: prompt}); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return b, nil
}

// Say writes down what the agent is about to say.
func (b *Book) Say(i Item) error {
	i.Process = b.process
	if err := i.chain(&b.chain); err != nil {
		return fmt.Errorf("write book: %w", err)
	}
	line, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("write book: %w", err)
	}
	if _, err := b.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write book: %w", err)
	}
	return nil
}

// Head is the chain over everything said so far, as the agent reports it.
func (b *Book) Head() contentchain.Head { return b.chain.Head() }

// Close closes the file.
func (b *Book) Close() error { return b.file.Close() }

// Account is what one agent process said, in order.
type Account struct {
	Prompt string
	Items  []Item
}

// Read returns the accounts of a book in the order in which they began; none if no agent has opened it yet. A last line that a kill cut short is left out: it was not said.
func Read(path string) ([]Account, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read book: %w", err)
	}
	var accounts []Account
	at := map[int64]int{}
	for line := range bytes.Lines(data) {
		if line[len(line)-1] != '\n' {
			break
		}
		var i Item
		if err := json.Unmarshal(line, &i); err != nil {
			return nil, fmt.Errorf("read book: %w", err)
		}
		if i.Kind == Began {
			at[i.Process] = len(accounts)
			accounts = append(accounts, Account{Prompt: i.Text})
			continue
		}
		a := &accounts[at[i.Process]]
		a.Items = append(a.Items, i)
	}
	return accounts, nil
}
