package console_test

import (
	"testing"
)

// TestSchedulesAreComparedByDates lists all schedules for a week from now, and for a fortnight and a month of the calendar from a date.
func TestSchedulesAreComparedByDates(t *testing.T) {
	t.Parallel()
	w := begin(t) // it is Sat 21 Nov 2026
	owner := w.signIn(ownerKey)
	owner.get("/schedules").shows("The next seven days", "/schedules?from=2026-11-28&amp;span=week", `href="/schedules?span=week" aria-current="true"`)
	owner.get("/schedules?span=week&from=2026-12-07").shows("13 Dec", "Nights only", "/schedules?from=2026-12-14&amp;span=week", "/schedules?from=2026-12-07&amp;span=month", "!The next seven days")
	owner.get("/schedules?span=fortnight&from=2026-12-07").shows("20 Dec", "/schedules?from=2026-11-23&amp;span=fortnight")
	owner.get("/schedules?span=month&from=2026-12-07").shows("31 Dec", "/schedules?from=2027-01-01&amp;span=month", "/schedules?from=2026-11-01&amp;span=month")
	owner.get("/schedules?span=month&from=2027-02-28&q=Day").shows("28 Feb", "from=2027-03-01&amp;q=Day&amp;span=month", "!Nights only")
	owner.get("/schedules?span=year&from=soon").shows("The next seven days", "Nights only")
	owner.get("/schedules?teams=mine").shows("Your teams have no schedule", `href="/schedules?span=week&amp;teams=mine" aria-current="true"`)
}

// TestScheduleShowsCalendarMonth turns from month to month.
func TestScheduleShowsCalendarMonth(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	day := "/schedules/7000000000031"
	owner.get(day).shows("from=2026-11-01&amp;span=month&amp;tz=UTC")
	november := owner.get(day+"?span=month").shows("1 Nov", "30 Nov", "from=2026-12-01&amp;span=month", "from=2026-10-01&amp;span=month", `span=month&amp;tz=UTC" aria-current="true">Month`)
	november.shows("days=7&amp;from=2026-11-01&amp;tz=UTC")
	owner.get(day+"?span=month&from=2028-02-20").shows("1 Feb", "29 Feb", "from=2028-03-01&amp;span=month")
}
