package oncall

import "math/bits"

// dutyBounds returns the bounds of the duty day of a date (00:00 on the wall):
// from midnight to midnight, or, under a continuous mask, from the time of day
// at which the layer began to the same time on the next date (R10).
func (r *rotation) dutyBounds(z *zone, date int64) (start, end int64) {
	if r.Continuous {
		date += r.wall - floor(r.wall, day)
	}
	return z.instant(date), z.instant(date + day)
}

// duty returns the date of the first masked duty day that ends after t. The
// layer must have an active mask, or the search would not end.
func (r *rotation) duty(z *zone, t int64) int64 {
	date := floor(z.local(t), day) - slack
	for {
		if r.Mask.Has(weekday(date)) {
			if _, end := r.dutyBounds(z, date); end > t {
				return date
			}
		}
		date += day
	}
}

// dutiesBefore counts the masked days from the layer's first one up to, but not
// including, a date: whole weeks by multiplication, the rest one by one (R23).
func (r *rotation) dutiesBefore(date int64) int64 {
	weeks := (date - r.firstDuty) / week
	n := weeks * int64(bits.OnesCount8(uint8(r.Mask)))
	for d := r.firstDuty + weeks*week; d < date; d += day {
		if r.Mask.Has(weekday(d)) {
			n++
		}
	}
	return n
}

// masked returns the masked time that meets [from, to), for a layer whose turns
// ignore the mask and are only cut by it (R12).
func (r *rotation) masked(from, to int64) []stretch {
	var out []stretch
	for date := r.duty(r.zone, from); ; date += day {
		if !r.Mask.Has(weekday(date)) {
			continue
		}
		start, end := r.dutyBounds(r.zone, date)
		if start >= to {
			return out
		}
		out = join(out, stretch{start, end})
	}
}
