package console

import "time"

// issueDay is one day of an error of users.
type issueDay struct {
	Date     string `json:"date"`
	Errors   int64  `json:"error_count"`
	Sessions int64  `json:"session_count"`
	Users    int64  `json:"user_count"`
	When     string `json:"-"` // the date in words
}

// issueDays is how often an error of users occurred on each of the last days.
type issueDays struct {
	Zone   string     `json:"time_zone"`
	Users  int64      `json:"user_count"`
	Days   []issueDay `json:"items"`
	Charts []chart    `json:"-"`
	Partly bool       `json:"-"` // the total of the error has errors of these days that no day has
}

// exactUsers is up to how many users they are counted and not estimated.
const exactUsers = 255

// Estimated reports whether a number of users is an estimate.
func (issueDays) Estimated(users int64) bool { return users > exactUsers }

// readDays reads the last 30 days of the error, and draws them.
func (d *issueView) readDays(v *visit) error {
	if err := v.call("/rum/issue/days", map[string]any{"issue_id": v.r.PathValue("id")}, &d.Days); err != nil {
		return err
	}
	var errors, sessions []point
	counted := int64(0)
	for i := range d.Days.Days {
		one := &d.Days.Days[i]
		if at, err := time.Parse(time.DateOnly, one.Date); err == nil {
			one.When = v.shortDate(at)
		}
		counted += one.Errors
		errors = append(errors, point{one.When, float64(one.Errors), true})
		sessions = append(sessions, point{one.When, float64(one.Sessions), true})
	}
	d.Days.Charts = []chart{v.bars(v.T("Errors of a day"), count, errors), v.bars(v.T("Sessions of a day"), count, sessions)}
	d.Days.Charts[0].ID, d.Days.Charts[1].ID = "days-errors", "days-sessions"
	from := v.Now.AddDate(0, 0, 1-len(d.Days.Days)).Unix()
	d.Days.Partly = d.Issue.First.At() > from && counted < d.Issue.Errors || d.Issue.Last.At() > from && counted == 0
	return nil
}
