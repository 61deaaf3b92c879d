package cursor

// first is the lowest number of elements of the first fetch: a fetch costs about as much as a few rows.
const first = 8

// Merge returns the first n elements of several sorted sources as one sorted list. It fetches few elements of a source
// at first and twice as many each time these are used up, so that many sources cost about as much as one. fetch
// returns up to want elements of a source, after the given one (nil: from its beginning), and fewer only if there are
// no more. before is the order of all sources.
func Merge[T any](n, sources int, before func(a, b T) bool, fetch func(source int, after *T, want int) ([]T, error)) ([]T, error) {
	type head struct {
		rows []T // read and not yet taken
		want int // number of the last fetch
		last bool
	}
	heads := make([]head, sources)
	read := func(source int, after *T, want int) error {
		rows, err := fetch(source, after, want)
		heads[source] = head{rows, want, len(rows) < want}
		return err
	}
	for source := range heads {
		want := n
		if sources > 1 {
			want = min(n, max(first, n/sources/4))
		}
		if err := read(source, nil, want); err != nil {
			return nil, err
		}
	}
	merged := make([]T, 0, n)
	for len(merged) < n {
		next := -1
		for source := range heads {
			if len(heads[source].rows) > 0 && (next < 0 || before(heads[source].rows[0], heads[next].rows[0])) {
				next = source
			}
		}
		if next < 0 {
			break
		}
		h := &heads[next]
		merged, h.rows = append(merged, h.rows[0]), h.rows[1:]
		if len(h.rows) == 0 && !h.last && len(merged) < n {
			after := merged[len(merged)-1]
			if err := read(next, &after, min(n-len(merged), 2*h.want)); err != nil {
				return nil, err
			}
		}
	}
	return merged, nil
}
