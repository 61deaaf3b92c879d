package sentence

import (
	"regexp"
	"sync"
)

// pattern is a Pattern with its text taken apart.
type pattern struct {
	Pattern
	literals []string // what stands before, between and behind the holes: one more than there are holes
	kinds    []byte
}

// patterns returns the table by its codes. It is prepared when the first sentence is made.
var patterns = sync.OnceValue(func() map[string]*pattern {
	byCode := map[string]*pattern{}
	for _, p := range Patterns() {
		byCode[p.Code] = compile(p)
	}
	return byCode
})

var hole = regexp.MustCompile(`%[a-z]`)

func compile(p Pattern) *pattern {
	c := &pattern{Pattern: p, literals: hole.Split(p.English, -1)}
	for _, verb := range hole.FindAllString(p.English, -1) {
		c.kinds = append(c.kinds, verb[1])
	}
	return c
}
