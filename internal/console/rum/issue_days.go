package rum

import (
	"time"

	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	"tocsin/internal/rum"
)

// issueDay is one day of an error of users.
type issueDay struct {
	rum.IssueDay
	When string // the date in words
}

// issueDays is how often an error of users occurred on each of the last days.
type issueDays struct {
	rum.IssueDays
	Days   []issueDay
	Charts []picture.Chart
	Partly bool // the total of the error has errors of these days that no day has
}

// exactUsers is up to how many users they are counted and not estimated.
const exactUsers = 255

// Estimated reports whether a number of users is an estimate.
func (issueDays) Estimated(users int64) bool { return users > exactUsers }

// readDays reads the last 30 days of the error, and draws them.
func (d *issueView) readDays(v *page.Visit) error {
	reply, err := page.Call[rum.IssueDays](v, "/rum/issue/days", rum.IssueDaysRequest{IssueID: v.Request.PathValue("id")})
	if err != nil {
		return err
	}
	d.Days.IssueDays = reply
	var errors, sessions []picture.Point
	counted := int64(0)
	for _, day := range reply.Items {
		one := issueDay{IssueDay: day}
		if at, err := time.Parse(time.DateOnly, one.Date); err == nil {
			one.When = v.ShortDate(at)
		}
		d.Days.Days = append(d.Days.Days, one)
		counted += one.ErrorCount
		errors = append(errors, picture.Point{When: one.When, Value: float64(one.ErrorCount), Known: true})
		sessions = append(sessions, picture.Point{When: one.When, Value: float64(one.SessionCount), Known: true})
	}
	d.Days.Charts = []picture.Chart{
		picture.ChartOfPoints(v.Setting, v.T("Errors of a day"), picture.Count, errors),
		picture.ChartOfPoints(v.Setting, v.T("Sessions of a day"), picture.Count, sessions),
	}
	d.Days.Charts[0].ID, d.Days.Charts[1].ID = "days-errors", "days-sessions"
	from := v.Now.AddDate(0, 0, 1-len(d.Days.Days)).Unix()
	d.Days.Partly = d.Issue.FirstSeen.Timestamp/1000 > from && counted < d.Issue.ErrorCount ||
		d.Issue.LastSeen.Timestamp/1000 > from && counted == 0
	return nil
}
