package console

import (
	"time"

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
	Charts []chart
	Partly bool // the total of the error has errors of these days that no day has
}

// exactUsers is up to how many users they are counted and not estimated.
const exactUsers = 255

// Estimated reports whether a number of users is an estimate.
func (issueDays) Estimated(users int64) bool { return users > exactUsers }

// readDays reads the last 30 days of the error, and draws them.
func (d *issueView) readDays(v *visit) error {
	reply, err := call[rum.IssueDays](v, "/rum/issue/days", rum.IssueDaysRequest{IssueID: v.r.PathValue("id")})
	if err != nil {
		return err
	}
	d.Days.IssueDays = reply
	var errors, sessions []point
	counted := int64(0)
	for _, day := range reply.Items {
		one := issueDay{IssueDay: day}
		if at, err := time.Parse(time.DateOnly, one.Date); err == nil {
			one.When = v.shortDate(at)
		}
		d.Days.Days = append(d.Days.Days, one)
		counted += one.ErrorCount
		errors = append(errors, point{one.When, float64(one.ErrorCount), true})
		sessions = append(sessions, point{one.When, float64(one.SessionCount), true})
	}
	d.Days.Charts = []chart{v.bars(v.T("Errors of a day"), count, errors), v.bars(v.T("Sessions of a day"), count, sessions)}
	d.Days.Charts[0].ID, d.Days.Charts[1].ID = "days-errors", "days-sessions"
	from := v.Now.AddDate(0, 0, 1-len(d.Days.Days)).Unix()
	d.Days.Partly = d.Issue.FirstSeen.Timestamp/1000 > from && counted < d.Issue.ErrorCount ||
		d.Issue.LastSeen.Timestamp/1000 > from && counted == 0
	return nil
}
