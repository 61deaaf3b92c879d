// Package id generates the program's identifiers and secrets.
//
// Every one of them is random enough to need no coordination between nodes.
// Public identifiers must never be treated as secrets: they appear in logs,
// addresses and replies, and some of them contain their time of creation. Only
// Token and AppKey return secrets.
package id

import "math/rand/v2"

// Number returns a random id from 1,000,000,000,000 to 9,007,199,254,740,991.
// The upper end is the largest integer that a JavaScript client keeps exactly;
// the lower end makes all ids equally long and distinct from small numbers
// typed by hand. The primary key ensures uniqueness: on a conflict the caller
// draws again.
func Number() int64 {
	const lowest, end = 1_000_000_000_000, 1 << 53
	return lowest + rand.New(&public).Int64N(end-lowest)
}
