package webhook

import (
	"fmt"
	"math"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Moment is an instant to the nanosecond. As text it is RFC 3339 with an offset in digits and six digits
// of a second, or nine when six would lose something.
type Moment time.Time

// Deliveries lie in these years, whose first and last instants bound Moment as it is stored: no window
// begins earlier (the specification, 4.7), and 64 bits of nanoseconds end in 2262.
const (
	firstYear = 2002
	lastYear  = 2261
)

func moment(nanoseconds int64) Moment { return Moment(time.Unix(0, nanoseconds)) }

func (m Moment) nanoseconds() int64 { return m.time().UnixNano() }

func (m Moment) time() time.Time { return time.Time(m) }

// In is the same instant, written with the offset of another zone.
func (m Moment) In(zone *time.Location) Moment { return Moment(time.Time(m).In(zone)) }

func (m Moment) String() string {
	layout := "2006-01-02T15:04:05.000000-07:00"
	if time.Time(m).Nanosecond()%1000 != 0 {
		layout = "2006-01-02T15:04:05.000000000-07:00"
	}
	return time.Time(m).Format(layout)
}

// MarshalText writes the instant as String does.
func (m Moment) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads RFC 3339 with any number of digits of a second.
func (m *Moment) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return fmt.Errorf("must be a time of RFC 3339 such as 2026-04-12T13:31:11.357472+08:00, got %.60q", text)
	}
	*m = Moment(t)
	return nil
}

// Schema describes a Moment in the API reference.
func (Moment) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}

// nanosecondsOf turns a window's bound from Unix milliseconds into nanoseconds. The last bounds that may
// be asked for lie beyond the last instant that is stored, and are as good as it.
func nanosecondsOf(milliseconds int64) int64 {
	return min(milliseconds, math.MaxInt64/1_000_000) * 1_000_000
}
