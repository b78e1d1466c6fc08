package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/search"
)

// inOrder are the messages by conversation and number.
func (w *world) inOrder() []int32 {
	starts := make([]int32, w.sessions+1)
	for s, n := range w.counts {
		starts[s+1] = starts[s] + n
	}
	order := make([]int32, w.messages)
	for m, s := range w.where {
		order[starts[s]+w.seqs[m]-1] = int32(m)
	}
	return order
}

// eachBlock gives the messages of each block of the index, in the order of the blocks.
func (w *world) eachBlock(do func(block int64, key search.BlockKey, messages []int32) error) error {
	order, block := w.inOrder(), int64(0)
	keyOf := func(m int32) search.BlockKey {
		key, _ := search.BlockOf(w.ids[w.where[m]], chat.Seq(w.seqs[m]))
		return key
	}
	for begin := 0; begin < len(order); {
		key, end := keyOf(order[begin]), begin+1
		for end < len(order) && keyOf(order[end]) == key {
			end++
		}
		block++
		if err := do(block, key, order[begin:end]); err != nil {
			return err
		}
		begin = end
	}
	return nil
}

func (f *filler) blocks(ctx context.Context, w *world) error {
	t, err := f.table(ctx, "search_blocks", "block_id, session_id, number, oldest, newest", w.sessions+w.messages/search.BlockSize)
	if err != nil {
		return err
	}
	last := int64(0)
	err = w.eachBlock(func(block int64, key search.BlockKey, messages []int32) error {
		last = block
		return t.add(ctx, block, string(key.Session), key.Number, w.at(int(messages[0])), w.at(int(messages[len(messages)-1])))
	})
	if err != nil {
		return err
	}
	if err := t.end(ctx); err != nil {
		return err
	}
	if err := f.exec(ctx, `DELETE FROM search_progress`); err != nil {
		return err
	}
	return f.exec(ctx, `INSERT INTO search_progress (id, step, place, fill_session, fill_seq, filled, blocks)
SELECT 1, 1, outbox_pos, '', 0, TRUE, ? FROM store_counter WHERE id = 1`, last)
}

// posting is what one block has of a term.
type posting struct {
	block int64
	bits  search.Bits
}

// postings gathers all of them in memory, some 20 bytes each, and writes them in the order of their key.
func (f *filler) postings(ctx context.Context, w *world) error {
	all := make([][]posting, len(w.lexicon.hash))
	err := w.eachBlock(func(block int64, _ search.BlockKey, messages []int32) error {
		for _, m := range messages {
			_, bit := search.BlockOf("", chat.Seq(w.seqs[m]))
			for _, word := range w.said(int(m)) {
				for _, term := range w.lexicon.terms[word] {
					list := all[term]
					if n := len(list); n > 0 && list[n-1].block == block {
						list[n-1].bits |= bit
						continue
					}
					all[term] = append(list, posting{block, bit})
					w.postings++
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	t, err := f.table(ctx, "search_postings", "term, block_id, bits", w.postings)
	if err != nil {
		return err
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(w.lexicon.hash[a], w.lexicon.hash[b]) })
	for _, term := range order {
		for _, p := range all[term] {
			if err := t.add(ctx, int64(w.lexicon.hash[term]), p.block, int64(p.bits)); err != nil {
				return err
			}
		}
	}
	return t.end(ctx)
}
