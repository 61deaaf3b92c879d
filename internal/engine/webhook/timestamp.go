package webhook

import (
	"fmt"
	"math"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Moment is an instant to the microsecond. As text it is RFC 3339 with an offset in digits and six digits of a second,
// which more readers of times take than nine. Records of earlier versions have nanoseconds, which the text leaves out.
type Moment time.Time

// Deliveries are in these years, which bound Moment as it is stored: no window begins earlier (the specification, 4.7),
// and 64 bits of nanoseconds end in 2262.
const (
	firstYear = 2002
	lastYear  = 2261
)

func moment(nanoseconds int64) Moment { return Moment(time.Unix(0, nanoseconds)) }

// MomentOf returns a time to the microsecond.
func MomentOf(t time.Time) Moment { return Moment(t.Truncate(time.Microsecond)) }

func (m Moment) nanoseconds() int64 { return m.time().UnixNano() }

func (m Moment) time() time.Time { return time.Time(m) }

// In returns the same instant with the offset of another time zone.
func (m Moment) In(zone *time.Location) Moment { return Moment(time.Time(m).In(zone)) }

// String returns the instant as RFC 3339 with six digits of a second.
func (m Moment) String() string { return time.Time(m).Format("2006-01-02T15:04:05.000000-07:00") }

// exact returns the text for a cursor, with the nanoseconds of earlier versions: else a page would begin again with the
// record that the page before ended with.
func (m Moment) exact() string {
	if time.Time(m).Nanosecond()%1000 != 0 {
		return time.Time(m).Format("2006-01-02T15:04:05.000000000-07:00")
	}
	return m.String()
}

// MarshalText returns the text of String.
func (m Moment) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText parses RFC 3339 with any number of digits of a second.
func (m *Moment) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return fmt.Errorf("must be a time of RFC 3339 such as 2026-04-12T13:31:11.357472+08:00, got %.60q", text)
	}
	*m = MomentOf(t)
	return nil
}

// Schema describes a Moment in the API reference.
func (Moment) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}

// nanosecondsOf converts a window's bound from Unix milliseconds into nanoseconds. The largest bounds that are accepted
// are beyond the last instant that can be stored, and become that.
func nanosecondsOf(milliseconds int64) int64 {
	return min(milliseconds, math.MaxInt64/1_000_000) * 1_000_000
}
