package id

import (
	"math/rand/v2"
	"sync/atomic"
)

// Numbers lie from lowestNumber to 2^53 - 1, the largest integer that a JavaScript client keeps exactly. The lower end
// makes them distinct from small numbers typed by hand.
const (
	lowestNumber = 1_000_000_000_000
	countNumbers = 1<<53 - lowestNumber
)

// numberStep is the largest distance between two numbers of one process. It is more than 1 so that a mistyped digit
// rarely names another object.
const numberStep = 1 << 10

// numbers is the last number, counted from lowestNumber.
var numbers = func() (n atomic.Uint64) { n.Store(public.Uint64() % countNumbers); return }()

// Number returns an id from 1,000,000,000,000 to 9,007,199,254,740,991. A process starts at random and counts up in
// random steps. Rows that are created one after the other are then neighbours in every index, and share the pages that a
// commit writes. Wholly random numbers would change a page each.
//
// Within one process numbers repeat only after billions of them. Between processes they are as unlikely to collide as
// random ones; the primary key notices.
func Number() int64 {
	step := 1 + rand.New(&public).Uint64N(numberStep)
	return lowestNumber + int64(numbers.Add(step)%countNumbers)
}

// Unused returns a number that taken does not report. Where a row is inserted or updated, storing an object under a number
// that another object has would replace that one.
func Unused(taken func(int64) (bool, error)) (int64, error) {
	for {
		n := Number()
		if is, err := taken(n); err != nil || !is {
			return n, err
		}
	}
}
