package fault

import (
	"fmt"
	"runtime/debug"
)

// Guard runs fn and returns a panic of it as an error, with the place.
func Guard(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}
