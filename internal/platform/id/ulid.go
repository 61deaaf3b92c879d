package id

import (
	"encoding/hex"
	"time"

	"github.com/oklog/ulid/v2"
)

// ULID returns a request id: 26 characters of Crockford's base32, of which the
// first ten are now in milliseconds, so that request ids sort by time. Ids of
// the same millisecond are in no particular order. An instant before 1970
// counts as 1970.
func ULID(now time.Time) string {
	return drawn(now).String()
}

func drawn(now time.Time) (u ulid.ULID) {
	// Neither can fail: the time is in range until the year 10889, and the
	// entropy slice has the one right length.
	_ = u.SetTime(uint64(max(now.UnixMilli(), 0)))
	_, _ = public.Read(u[6:])
	return u
}

// Message returns the id of a message: 32 lower-case hexadecimal digits, of which the first twelve are now in milliseconds,
// as in a ULID, so that an index to which such ids are added is written at its end.
func Message(now time.Time) string {
	u := drawn(now)
	return hex.EncodeToString(u[:])
}

// ULIDFrom returns a text that is not greater than any ULID of an instant or a later one, and greater than every one of an
// earlier millisecond.
func ULIDFrom(now time.Time) string {
	var u ulid.ULID
	_ = u.SetTime(uint64(max(now.UnixMilli(), 0))) // it cannot fail, as above
	return u.String()[:timed]
}

// ULIDTime returns the millisecond that a ULID begins with.
func ULIDTime(id string) (time.Time, error) {
	u, err := ulid.ParseStrict(id[:min(len(id), timed)] + "0000000000000000")
	return ulid.Time(u.Time()), err
}

// timed is how many characters of a ULID state its time.
const timed = 10
