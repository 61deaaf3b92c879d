package story

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
)

// An issue has errors, sessions and users of each day. A storm of invented users costs one row a day, and old days are
// deleted.
func TestIssueHasItsDays(t *testing.T) {
	t.Parallel()
	const users = 1000
	w := begin(t, notifyAnn, webShop(""))
	flood := func(from, until int) {
		for ; from < until; from += 200 {
			var lines []string
			for i := from; i < from+200; i++ {
				lines = append(lines, fmt.Sprintf(`{"type":"error","service":"shop-web","session":{"id":"s%d"},"usr":{"id":"u%d"},"ddtags":"env:production","error":{"type":"Error","message":"order failed","source":"source"}}`, i%20, i))
			}
			if status, text := w.send(datadogURL, []byte(strings.Join(lines, "\n"))); status != 202 {
				t.Fatal(status, text)
			}
		}
	}
	flood(0, users)
	flood(0, 200) // the same users again
	w.restart()
	if n := w.count(`SELECT count(*) FROM rum_day`); n != 1 {
		t.Errorf("a storm made %d rows", n)
	}
	if n := w.count(`SELECT max(length(users)) FROM rum_day`); n > 2731 {
		t.Errorf("a storm made a row of %d bytes", n)
	}
	issue := w.issues().get("items.0.issue_id")
	days := func(n int) reply { return w.do("/rum/issue/days", `{"issue_id": %q, "days": %d}`, issue, n) }
	today := days(2)
	for path, want := range map[string]string{"items.0.error_count": "0", "items.1.error_count": "1200", "items.1.session_count": "20"} {
		w.want(today, path, want)
	}
	var counted int
	if _, err := fmt.Sscan(today.get("user_count"), &counted); err != nil || counted < 3*users/4 || counted > 5*users/4 {
		t.Errorf("%d users are counted as %d (%v)", users, counted, err)
	}
	w.clock.Add(24 * time.Hour)
	w.settle()
	flood(0, 200)
	next := days(2)
	w.want(next, "items.0.error_count", "1200")
	w.want(next, "items.1.error_count", "200")
	w.want(next, "user_count", today.get("user_count")) // those of the second day were there on the first
	w.clock.Add(89 * 24 * time.Hour)
	w.settle()
	w.want(days(90), "items.0.error_count", "200")
	w.clock.Add(5 * 24 * time.Hour)
	w.settle()
	if n := w.count(`SELECT count(*) FROM rum_day`); n != 0 {
		t.Errorf("%d days are left after 95", n)
	}
}

// The days of an issue are deleted with it.
func TestDaysAreDeletedWithTheirIssue(t *testing.T) {
	t.Parallel()
	w := beginWith(t, func(c *app.Config) { c.IncidentDays = 10 }, notifyAnn, webShop(""))
	w.datadog("1", priceOf)
	w.newPages()
	w.clock.Add(9 * 24 * time.Hour)
	w.settle()
	if n := w.count(`SELECT count(*) FROM rum_day`); n != 1 {
		t.Errorf("after 9 days there are %d", n)
	}
	w.clock.Add(2 * 24 * time.Hour)
	w.settle()
	if issues, days := w.count(`SELECT count(*) FROM rum_issue`), w.count(`SELECT count(*) FROM rum_day`); issues != 0 || days != 0 {
		t.Errorf("after 11 days there are %d issues and %d days", issues, days)
	}
}
