package webhook

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tocsin/internal/platform/db"
)

// Counts are stored by slots of five minutes, with a row for each hour, and by whole days.
const (
	slot     = 5 * 60 * 1_000_000_000 // in nanoseconds
	slots    = 12                     // in an hour
	daySlots = 24 * slots             // in a day
	day      = daySlots * slot        // in nanoseconds
)

// shape is the set of a delivery's properties that a count distinguishes: the sum of these bits.
type shape int64

const (
	byIntegration shape = 1 << iota
	byType
	byStatus
	shapes
)

// group identifies deliveries that are counted together: those with equal values of the properties of its shape. The
// other properties are empty.
type group struct {
	shape       shape
	integration int64
	eventType   string
	status      string
}

// of returns the group of this shape in which a delivery with these properties is counted.
func (s shape) of(integration int64, eventType, status string) group {
	g := group{shape: s}
	if s&byIntegration != 0 {
		g.integration = integration
	}
	if s&byType != 0 {
		g.eventType = eventType
	}
	if s&byStatus != 0 {
		g.status = status
	}
	return g
}

// counters collects changes to the counts: for each group and hour, the change of each slot.
type counters map[cell]*[slots]int64

// cell is a group in an hour, or in a day where the caller states that.
type cell struct {
	group
	hour int64
}

// add counts n deliveries (negative: deleted ones) with these properties, at a time in Unix nanoseconds.
func (t counters) add(integration int64, eventType, status string, at, n int64) {
	number := at / slot
	for s := range shapes {
		c := cell{s.of(integration, eventType, status), number / slots}
		if t[c] == nil {
			t[c] = new([slots]int64)
		}
		t[c][number%slots] += n
	}
}

// store adds the changes to the counts of an account. Rows whose counts are all zero are deleted; there are none where no
// count decreases.
func (t counters) store(tx *db.Tx, account int64) error {
	hours := db.Rows{Table: "webhook_count", Columns: hourColumns}
	days := map[cell]int64{} // whose hour is a day
	fewer := false
	for _, c := range sorted(t) {
		row := c.key(account)
		for _, n := range t[c] {
			row, fewer = append(row, n), fewer || n < 0
			days[cell{c.group, c.hour / 24}] += n
		}
		hours.Values = append(hours.Values, row)
	}
	whole := db.Rows{Table: "webhook_count_day", Columns: dayColumns}
	for _, c := range sorted(days) {
		whole.Values = append(whole.Values, append(c.key(account), days[c]))
	}
	if err := tx.Upsert(keys, hours, addHours); err != nil {
		return err
	}
	if err := tx.Upsert(keys, whole, addDays); err != nil || !fewer {
		return err
	}
	for _, row := range hours.Values {
		if err := tx.Do(dropHour, row[:keys]...); err != nil {
			return err
		}
	}
	for _, row := range whole.Values {
		if err := tx.Do(dropDay, row[:keys]...); err != nil {
			return err
		}
	}
	return nil
}

// key returns the first columns of a cell's row.
func (c cell) key(account int64) []any {
	return []any{account, int64(c.shape), c.integration, c.eventType, c.status, c.hour}
}

// sorted returns the cells in the order of the keys of their rows.
func sorted[V any](cells map[cell]V) []cell {
	return slices.SortedFunc(maps.Keys(cells), func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.shape, b.shape), cmp.Compare(a.integration, b.integration), cmp.Compare(a.eventType, b.eventType),
			cmp.Compare(a.status, b.status), cmp.Compare(a.hour, b.hour))
	})
}

const (
	keys    = 6 // columns of the key of a count
	addDays = `deliveries = webhook_count_day.deliveries + excluded.deliveries`

	dropDay = `DELETE FROM webhook_count_day WHERE account_id = $1 AND shape = $2 AND integration_id = $3 AND event_type = $4
		AND status = $5 AND day = $6 AND deliveries = 0`

	// What was delivered in some days, from the first to the last.
	countedIntegrations = `SELECT DISTINCT integration_id FROM webhook_count_day
		WHERE account_id = $1 AND shape = $2 AND day >= $3 AND day <= $4`
	countedTypes = `SELECT DISTINCT event_type FROM webhook_count_day
		WHERE account_id = $1 AND shape = $2 AND integration_id = $3 AND day >= $4 AND day <= $5`

	sumDays = `SELECT CAST(coalesce(sum(deliveries), 0) AS BIGINT) FROM webhook_count_day
		WHERE account_id = $3 AND shape = $4 AND integration_id = $5 AND event_type = $6 AND status = $7 AND day >= $1 AND day < $2`
)

var (
	hourColumns = db.Columns("account_id, shape, integration_id, event_type, status, hour, " + eachSlot("s%d", ", "))
	dayColumns  = db.Columns("account_id, shape, integration_id, event_type, status, day, deliveries")

	addHours = eachSlot("s%[1]d = webhook_count.s%[1]d + excluded.s%[1]d", ", ")

	dropHour = `DELETE FROM webhook_count
		WHERE account_id = $1 AND shape = $2 AND integration_id = $3 AND event_type = $4 AND status = $5 AND hour = $6
		AND ` + eachSlot("s%d", " + ") + ` = 0`

	// Only the first hour and the last have slots outside the span from slot $1 to before slot $2.
	sumCounts = `SELECT CAST(coalesce(sum(CASE WHEN hour > $1 / 12 AND hour < $2 / 12 THEN ` + eachSlot("s%d", " + ") + ` ELSE ` +
		eachSlot("CASE WHEN 12 * hour + %[1]d >= $1 AND 12 * hour + %[1]d < $2 THEN s%[1]d ELSE 0 END", " + ") + ` END), 0) AS BIGINT)
		FROM webhook_count
		WHERE account_id = $3 AND shape = $4 AND integration_id = $5 AND event_type = $6 AND status = $7
		AND hour >= $1 / 12 AND hour <= $2 / 12`
)

// eachSlot writes a format once for each slot of an hour, with its number.
func eachSlot(format, between string) string {
	parts := make([]string, slots)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(parts, between)
}
