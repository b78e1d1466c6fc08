package httpapi

import (
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// bodyID reads an id out of a body or a query; "" where none is needed stays "".
func bodyID[T ~string](field string, parse func(string) (T, error), s string) (T, error) {
	parsed, err := parse(s)
	if err != nil {
		return "", fault.Wrap(err, fault.InvalidRequest, "%s is not an id of that kind.", field)
	}
	return parsed, nil
}

func optionalID[T ~string](field string, parse func(string) (T, error), s string) (T, error) {
	if s == "" {
		return "", nil
	}
	return bodyID(field, parse, s)
}

func bodyIDs[T ~string](field string, parse func(string) (T, error), list []string) ([]T, error) {
	parsed := make([]T, len(list))
	seen := map[T]bool{}
	for i, s := range list {
		one, err := bodyID(field, parse, s)
		if err != nil {
			return nil, err
		}
		if seen[one] {
			return nil, fault.New(fault.InvalidRequest, "%s names %s twice.", field, one)
		}
		seen[one], parsed[i] = true, one
	}
	return parsed, nil
}

// pageLimit is the number of items of a page: what was asked for if it is allowed, def if nothing was.
func pageLimit(asked *int, def, most int) (int, error) {
	switch {
	case asked == nil:
		return def, nil
	case *asked < 1 || *asked > most:
		return 0, fault.New(fault.InvalidRequest, "limit must be a number from 1 to %d.", most)
	}
	return *asked, nil
}

// sequence is a lower or upper bound of a page by number.
func sequence(field string, asked *int64, least int64) (uint64, error) {
	switch {
	case asked == nil:
		return 0, nil
	case *asked < least:
		return 0, fault.New(fault.InvalidRequest, "%s must be a number from %d.", field, least)
	}
	return uint64(*asked), nil
}

// valueOf is the zero value for a parameter that was not given.
func valueOf[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

// mapAll renders a list; never nil, because a list on the wire is never null.
func mapAll[A, B any](list []A, render func(A) B) []B {
	out := make([]B, len(list))
	for i, one := range list {
		out[i] = render(one)
	}
	return out
}

func texts[T ~string](ids []T) []string {
	return mapAll(ids, func(one T) string { return string(one) })
}
