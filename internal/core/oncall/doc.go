// Package oncall answers "who is on call, when, and why" from a schedule's
// configuration alone.
//
// Everything that shows or uses an on-call schedule (the API, the console, the
// calendar feed, the pager) calls this package, so that they cannot disagree.
// The rules are written down, with their numbers R1 to R27, in
// docs/timeline.md; comments here refer to those numbers.
//
// The package is pure. It never reads a clock, a file or a database, never
// loads a time zone by name, and never changes the schedule it is given; a
// *Schedule may be used by any number of goroutines at once. It needs only the
// standard library. All instants are Unix seconds and all intervals are half
// open, [start, end).
//
// The cost of an answer depends on the window asked for and never on how long
// ago a layer began (R23). Any layer that passes Check can be computed; a layer
// that does not is treated as if it were absent, so that one broken layer
// cannot silence the others.
package oncall
