package render

import (
	"encoding/json"
	"fmt"
	"strings"
)

// budget is the number of bytes that the functions of one rendering may still write. A call is rejected before it
// writes too much: afterwards the memory would be taken already.
type budget struct {
	left int
	clock
}

const (
	maxMade  = 4 << 20 // bytes that functions may read and write in one rendering
	callCost = 256     // bytes that each call counts besides its text
	zoneCost = 4096    // bytes that reading a time zone counts
	jsonCost = 16      // bytes that searching a byte of JSON counts, for each part of the path
)

// newBudget returns the budget of one rendering, of so many bytes.
func newBudget(about Incident, left int) *budget {
	return &budget{left, clock{now: about.Now, zone: about.TimeZone}}
}

// spend takes n bytes, and the cost of a call, from the budget.
func (b *budget) spend(n int) error {
	if n > MaxOutput {
		return fmt.Errorf("more than %d bytes of text", MaxOutput)
	}
	return b.take(n)
}

// take takes n bytes, and the cost of a call, from the budget. Unlike spend it has no bound of its own.
func (b *budget) take(n int) error {
	if b.left -= n + callCost; b.left < 0 {
		return fmt.Errorf("more than %d bytes of text read and written by functions", maxMade)
	}
	return nil
}

// made returns s and takes its length from the budget, for functions that write about as much as they read.
func (b *budget) made(s string) (string, error) { return s, b.spend(len(s)) }

// replace returns s with every old replaced. It computes the length first.
func (b *budget) replace(old, by, s string) (string, error) {
	if err := b.spend(len(s) + strings.Count(s, old)*max(0, len(by)-len(old))); err != nil {
		return "", err
	}
	return strings.ReplaceAll(s, old, by), nil
}

func (b *budget) split(separator, s string) ([]string, error) {
	return strings.SplitN(s, separator, 1000), b.spend(len(s))
}

func (b *budget) join(separator string, of any) (string, error) {
	list, err := b.texts(of)
	if err != nil {
		return "", err
	}
	n := len(separator) * len(list)
	for _, s := range list {
		n += len(s)
	}
	if err := b.spend(n); err != nil {
		return "", err
	}
	return strings.Join(list, separator), nil
}

// toJSON returns the value as JSON, for messages that are JSON themselves.
func (b *budget) toJSON(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return b.made(string(text))
}

// written returns write with its arguments and result taken from the budget.
func (b *budget) written(write func(...any) string) func(...any) (string, error) {
	return func(args ...any) (string, error) {
		if _, err := b.read(args); err != nil {
			return "", err
		}
		return b.made(write(args...))
	}
}

// read takes the bytes of the printed arguments from the budget and returns the length of the longest.
func (b *budget) read(args []any) (longest int, err error) {
	sum := 0
	for _, arg := range args {
		n := len(fmt.Sprint(arg))
		longest, sum = max(longest, n), sum+n
		if err := b.spend(sum); err != nil {
			return 0, err
		}
	}
	return longest, nil
}

// printf is printf of the template language, without widths that are arguments. The length is estimated first: each
// verb may write the longest argument, ten times as long when it is quoted, as wide as the greatest number in the
// format.
func (b *budget) printf(format string, args ...any) (string, error) {
	longest, err := b.read(args)
	if err != nil {
		return "", err
	}
	width, number := 0, 0
	for _, c := range []byte(format) {
		switch {
		case c == '*':
			return "", fmt.Errorf("a format must not have *, got %.60q", format)
		case c >= '0' && c <= '9':
			number = min(10*number+int(c-'0'), 1_000_000)
		default:
			number = 0
		}
		width = max(width, number)
	}
	if most := len(format) + strings.Count(format, "%")*(10*longest+width); most > maxMade {
		return "", fmt.Errorf("more than %d bytes of text", MaxOutput)
	}
	return b.made(fmt.Sprintf(format, args...))
}
