// Package id makes the identifiers and secrets that the program hands out.
//
// Every one of them is random enough to need no coordination between nodes.
// Public identifiers must never be treated as secrets: they appear in logs,
// addresses and replies, and some of them carry their time of birth. Only
// Token and AppKey make secrets.
package id

import "math/rand/v2"

// Number returns a random id from 1,000,000,000,000 to 9,007,199,254,740,991.
// The upper end is the largest integer that a JavaScript client keeps exactly;
// the lower end gives all ids one look and keeps them clear of small numbers
// typed by hand. Uniqueness is the primary key's business: on a conflict draw
// again.
func Number() int64 {
	const lowest, end = 1_000_000_000_000, 1 << 53
	return lowest + rand.New(&public).Int64N(end-lowest)
}
