package webhook

import "tocsin/internal/platform/db"

// total returns how many deliveries of one type ("": any) pass the filter in the window. Whole slots have stored counts.
// Only the two ends of the window, which cut into a slot, are counted by row, and the deliveries of one incident or
// alert, which are few.
func (f filter) total(tx *db.Tx, w window, eventType string) (int64, error) {
	sources, err := f.sources(tx, w, eventType)
	if err != nil {
		return 0, err
	}
	first, last := w.from/slot, w.to/slot // whole ones: first inclusive, last exclusive
	if w.from%slot != 0 {
		first++
	}
	if f.refID != "" || first >= last {
		return number(tx, sources, w.from, w.to)
	}
	n, err := f.counted(tx, eventType, first, last)
	if err != nil {
		return 0, err
	}
	head, err := number(tx, sources, w.from, first*slot)
	if err != nil {
		return 0, err
	}
	tail, err := number(tx, sources, last*slot, w.to)
	return head + n + tail, err
}

// number counts the rows of some sources.
func number(tx *db.Tx, sources []source, from, to int64) (sum int64, err error) {
	if from == to {
		return 0, nil
	}
	for _, s := range sources {
		n, err := s.number(tx, from, to)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// counted returns the sum of the counts of whole slots, from first to before last: those of whole days, and those of the
// slots before and after them.
func (f filter) counted(tx *db.Tx, eventType string, first, last int64) (int64, error) {
	var s shape
	if f.integration != 0 {
		s |= byIntegration
	}
	if eventType != "" {
		s |= byType
	}
	if f.status != "" {
		s |= byStatus
	}
	g := s.of(f.integration, eventType, f.status)
	sum := func(query string, from, to int64) (int64, error) {
		if from >= to {
			return 0, nil
		}
		n, _, err := db.One(tx, db.Column[int64], query, from, to, f.account, g.shape, g.integration, g.eventType, g.status)
		return n, err
	}
	from, to := (first+daySlots-1)/daySlots, last/daySlots // whole days: first inclusive, last exclusive
	if from >= to {
		return sum(sumCounts, first, last)
	}
	head, err := sum(sumCounts, first, from*daySlots)
	if err != nil {
		return 0, err
	}
	days, err := sum(sumDays, from, to)
	if err != nil {
		return 0, err
	}
	tail, err := sum(sumCounts, to*daySlots, last)
	return head + days + tail, err
}
