package postgres

import (
	"fmt"
	"strconv"
	"time"

	"tocsin/internal/platform/id"
)

// unit is how a key states the time.
type unit int

const (
	hexSeconds   unit = iota // the first 8 digits of the text are Unix seconds
	microseconds             // Unix time, as the next
	nanoseconds
	ulidTime // a ULID
)

// key returns the key at which a time begins.
func (u unit) key(t time.Time) string {
	switch u {
	case hexSeconds:
		return fmt.Sprintf("%08x", t.Unix())
	case microseconds:
		return strconv.FormatInt(t.UnixMicro(), 10)
	case ulidTime:
		return id.ULIDFrom(t)
	}
	return strconv.FormatInt(t.UnixNano(), 10)
}

// of returns the same as SQL.
func (u unit) of(t time.Time) string {
	if u == microseconds || u == nanoseconds {
		return u.key(t)
	}
	return "'" + u.key(t) + "'"
}

// time returns the time of a key.
func (u unit) time(key string) (time.Time, error) {
	switch u {
	case hexSeconds:
		n, err := strconv.ParseInt(key[:min(len(key), 8)], 16, 64)
		return time.Unix(n, 0), err
	case microseconds:
		n, err := strconv.ParseInt(key, 10, 64)
		return time.UnixMicro(n), err
	case ulidTime:
		return id.ULIDTime(key)
	}
	n, err := strconv.ParseInt(key, 10, 64)
	return time.Unix(0, n), err
}
