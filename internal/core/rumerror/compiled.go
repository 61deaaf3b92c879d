package rumerror

import (
	"regexp"
	"sync"
)

// compiled returns an expression that is compiled when it is first used: few servers receive errors of pages.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
