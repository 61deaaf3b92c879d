package cursor

// first is the least that Merge asks a source for at first: a question costs about as much as a few rows.
const first = 8

// Merge gives the first n elements of several sorted sources read as one sorted list. It asks a source
// for little at first and for twice as much each time that runs out, so that many sources cost about as
// much as one. fetch gives up to want elements of a source, those after the given one (nil: from its
// beginning), and fewer only when there are no more; before is the order of all.
func Merge[T any](n, sources int, before func(a, b T) bool, fetch func(source int, after *T, want int) ([]T, error)) ([]T, error) {
	type head struct {
		rows []T // read and not yet taken
		want int // asked for last time
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
