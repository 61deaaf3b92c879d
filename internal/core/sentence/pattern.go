package sentence

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// pattern is a Pattern that texts are compared with.
type pattern struct {
	Pattern
	english  string
	literals []string // what stands before, between and behind the holes: one more than there are holes
	kinds    []byte
	length   int    // of all literals
	longest  string // of the literals between holes
}

// patternTable is the table, prepared for writing and reading.
type patternTable struct {
	byCode map[string]*pattern
	begins [256][]*pattern // those that a text may be of by its first byte, in the order in which it is compared with them
}

// patterns returns the table, which is prepared when the first sentence is written or read.
var patterns = sync.OnceValue(func() *patternTable {
	all := sorted()
	t := &patternTable{byCode: make(map[string]*pattern, len(all))}
	firsts := map[byte]bool{}
	for _, p := range all {
		t.byCode[p.Code] = p
		if literal := p.literals[0]; literal != "" {
			firsts[literal[0]] = true
		}
	}
	rest := beginning(all, 0) // most bytes begin no pattern
	for first := range t.begins {
		t.begins[first] = rest
	}
	for first := range firsts {
		t.begins[first] = beginning(all, first)
	}
	return t
})

// sorted returns all patterns in the order in which a text is compared with them: first those without
// holes, then what joins sentences, then the longest patterns, and last those whose end is any text and might hold a part
// of another sentence.
func sorted() (all []*pattern) {
	for _, p := range Patterns() {
		all = append(all, compile(p))
	}
	slices.SortStableFunc(all, func(a, b *pattern) int {
		return cmp.Or(cmp.Compare(a.class(), b.class()), cmp.Compare(b.length, a.length))
	})
	return all
}

// beginning returns the patterns that a text with this first byte may be of.
func beginning(all []*pattern, first byte) (some []*pattern) {
	for _, p := range all {
		if p.literals[0] == "" || p.literals[0][0] == first {
			some = append(some, p)
		}
	}
	return slices.Clip(some)
}

var hole = regexp.MustCompile(`%[a-z]`)

func compile(p Pattern) *pattern {
	c := &pattern{Pattern: p, english: p.English, literals: hole.Split(p.English, -1)}
	for _, verb := range hole.FindAllString(p.English, -1) {
		c.kinds = append(c.kinds, verb[1])
	}
	for i, literal := range c.literals {
		c.length += len(literal)
		if i > 0 && i < len(c.kinds) && len(literal) > len(c.longest) {
			c.longest = literal
		}
	}
	return c
}

// class ranks a pattern.
func (p *pattern) class() int {
	n := len(p.kinds)
	open := n > 0 && p.literals[n] == "" && strings.IndexByte("snpvy", p.kinds[n-1]) >= 0
	switch {
	case n == 0:
		return 0
	case len(p.kinds) > 1 && p.kinds[n-1] == Text && (p.kinds[0] == Clock || p.Code == "of_incident"):
		return 1 // what a moment or an incident stands before
	case p.Code == "sentence" || p.Code == "sentences":
		return 2
	case p.Code == "either_or_raw" || p.Code == "raw_or" || p.Code == "named_why":
		return 7
	case n > 0 && p.kinds[0] == Sentence && p.literals[0] == "":
		return 3
	case p.literals[0] == "" && strings.IndexByte("snpy", p.kinds[0]) >= 0:
		return 6 // its begin is any text
	case !open:
		return 4
	}
	return 5
}

var (
	clock = regexp.MustCompile(`^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{1,2} ` +
		`(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (\d{4} )?\d\d:\d\d(:\d\d)? \([^()]+\)`)
	hours = regexp.MustCompile(`^\d\d:\d\d$`)
)

// maxReads bounds how often parts of one text are compared with a pattern. Only untrusted text needs more.
const maxReads = 4000

// maxText is the longest text that is read, in bytes.
const maxText = 8 << 10

// reader reads one text. Parts of it are read once.
type reader struct {
	known map[string]*Data // nil: no sentence
	depth int
	reads int
}

// Read returns a sentence of the table that is held as English text, as data; nil: the text is none. Names in the text may look
// like other sentences, so only pages whose text comes without data use it, for another language.
func Read(text string) *Data {
	if text == "" || len(text) > maxText {
		return nil
	}
	r := reader{known: map[string]*Data{}}
	return r.read(text)
}

func (r *reader) read(text string) *Data {
	if s, ok := r.known[text]; ok {
		return s
	}
	if r.depth > 40 || text == "" {
		return nil
	}
	r.depth++
	defer func() { r.depth-- }()
	var found *Data
	for _, p := range patterns().begins[text[0]] {
		if len(text) < p.length || !strings.HasPrefix(text, p.literals[0]) || !strings.HasSuffix(text, p.literals[len(p.kinds)]) ||
			!strings.Contains(text, p.longest) {
			continue
		}
		if args, ok := r.match(p, 0, text[len(p.literals[0]):]); ok {
			found = &Data{p.Code, args}
			break
		}
	}
	r.known[text] = found
	return found
}

// match reads the arguments of a pattern from its hole n on. text begins with the argument of that hole.
func (r *reader) match(p *pattern, n int, text string) ([]any, bool) {
	if n == len(p.kinds) {
		return nil, text == ""
	}
	literal := p.literals[n+1]
	end := n == len(p.kinds)-1
	for at := range r.ends(p.kinds[n], text, literal, end) {
		if r.reads++; r.reads > maxReads {
			return nil, false
		}
		arg, ok := r.argument(p.kinds[n], text[:at])
		if !ok || p.Code == "both" && !whole(arg) {
			continue
		}
		if rest, ok := r.match(p, n+1, text[at+len(literal):]); ok {
			return append([]any{arg}, rest...), true
		}
	}
	return nil, false
}

// whole reports whether a sentence holds no text that might have been a sentence and is none: "and" joins whole sentences,
// because it stands in many.
func whole(arg any) bool {
	s, ok := arg.(*Data)
	if !ok {
		return true
	}
	_, kinds := s.Pattern()
	for i, inner := range s.Args {
		if _, raw := inner.(string); raw && kinds[i] == Text || !whole(inner) {
			return false
		}
	}
	return true
}

// ends yields where an argument may end: wherever the literal behind it stands, the nearest first.
func (r *reader) ends(kind byte, text, literal string, last bool) func(func(int) bool) {
	return func(yield func(int) bool) {
		if last {
			if strings.HasSuffix(text, literal) {
				yield(len(text) - len(literal))
			}
			return
		}
		exact := -1
		switch kind {
		case Quoted:
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				return
			}
			exact = len(quoted)
		case Clock:
			exact = len(clock.FindString(text))
		}
		if exact >= 0 {
			if strings.HasPrefix(text[exact:], literal) {
				yield(exact)
			}
			return
		}
		for from := 0; ; {
			i := strings.Index(text[from:], literal)
			if i < 0 || !yield(from+i) {
				return
			}
			from += i + 1
		}
	}
}

// argument reads the argument of a hole.
func (r *reader) argument(kind byte, text string) (any, bool) {
	if text == "" {
		return nil, false
	}
	switch kind {
	case Number:
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil && strconv.FormatInt(n, 10) == text
	case Quoted:
		quoted, err := strconv.QuotedPrefix(text)
		return text, err == nil && quoted == text
	case Token, Severity, Method, Kind:
		return text, !strings.ContainsRune(text, ' ')
	case Operator:
		return text, text == "IN" || text == "NOTIN"
	case Clock:
		return text, clock.FindString(text) == text
	case Time:
		return text, hours.MatchString(text)
	case Sentence, Text:
		if s := r.read(text); s != nil {
			return s, true
		}
		return text, kind == Text
	}
	return text, true
}
