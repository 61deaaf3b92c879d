package rum

import (
	"cmp"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/core/distinct"
	"tocsin/internal/core/rumerror"
	"tocsin/internal/platform/db"
)

// The days of an issue that can be asked for, and those that are returned without a number.
const (
	maxDays     = 90
	defaultDays = 30
)

// CountDay adds errors that arrived on a day, and the sessions that are new with them, to the days of the issue. It costs
// one row, however many errors there are.
func (i *Issue) CountDay(tx *db.Tx, account int64, at time.Time, errors []*rumerror.Error, sessions int64) error {
	day := at.Format(time.DateOnly)
	stored, _, err := db.One(tx, db.Column[string], `SELECT users FROM rum_day WHERE account_id = $1 AND issue_id = $2 AND day = $3`,
		account, i.IssueID, day)
	if err != nil {
		return err
	}
	users := sketch(stored)
	for _, e := range errors {
		if user := cmp.Or(e.User.ID, e.User.Email); user != "" {
			users.Add(i.IssueID + "\x1f" + user)
		}
	}
	return tx.Do(`INSERT INTO rum_day (account_id, issue_id, day, error_count, session_count, users) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (account_id, issue_id, day) DO UPDATE SET error_count = rum_day.error_count + excluded.error_count,
			session_count = rum_day.session_count + excluded.session_count, users = excluded.users`,
		account, i.IssueID, day, len(errors), sessions, users.String())
}

// sketch reads the users of a day. What cannot be read counts as none: errors must be stored all the same.
func sketch(text string) distinct.Sketch {
	s, err := distinct.Parse(text)
	if err != nil {
		return distinct.Sketch{}
	}
	return s
}

// IssueDaysRequest asks for the last days of an issue.
type IssueDaysRequest struct {
	IssueID string `json:"issue_id" maxLength:"255" minLength:"1" doc:"The issue."`
	Days    int64  `json:"days,omitzero" minimum:"1" maximum:"90" doc:"How many days, up to today, at most 90; absent: 30."`
}

// IssueDays is the reply of /rum/issue/days.
type IssueDays struct {
	Zone      string     `json:"time_zone" doc:"The account's time zone, in which days begin."`
	UserCount int64      `json:"user_count" doc:"The number of different users of all these days; more than 255 are estimated."`
	Items     []IssueDay `json:"items" doc:"The days in order, those without an error too."`
}

// IssueDay is one day of an issue.
type IssueDay struct {
	Date         string `json:"date" maxLength:"10" doc:"Such as 2026-03-25."`
	ErrorCount   int64  `json:"error_count" doc:"The number of errors that arrived."`
	SessionCount int64  `json:"session_count" doc:"The number of sessions; a session counts on the day of its first error."`
	UserCount    int64  `json:"user_count" doc:"The number of different users, as the page names them; more than 255 are estimated."`

	users distinct.Sketch
}

func scanDay(scan db.Scan) (d IssueDay, err error) {
	var users string
	err = scan(&d.Date, &d.ErrorCount, &d.SessionCount, &users)
	d.users = sketch(users)
	d.UserCount = d.users.Count()
	return d, err
}

// issueDays answers /rum/issue/days, for those who may read the issue.
func (r *Service) issueDays(c *api.Call, in IssueDaysRequest) (reply IssueDays, err error) {
	if _, err := ReadableIssue(c.Tx, c.Who, in.IssueID); err != nil {
		return reply, err
	}
	y, m, d := c.Now.In(c.Who.Zone).Date()
	n := int(cmp.Or(in.Days, defaultDays))
	date := func(ago int) string { return time.Date(y, m, d-ago, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) }
	stored, err := db.All(c.Tx, scanDay, `SELECT day, error_count, session_count, users FROM rum_day
		WHERE account_id = $1 AND issue_id = $2 AND day >= $3 ORDER BY day`, c.Who.AccountID, in.IssueID, date(n-1))
	if err != nil {
		return reply, err
	}
	reply = IssueDays{Zone: c.Who.Zone.String(), Items: make([]IssueDay, 0, n)}
	var users distinct.Sketch
	for ago := n - 1; ago >= 0; ago-- {
		one := IssueDay{Date: date(ago)}
		for len(stored) > 0 && stored[0].Date <= one.Date {
			if stored[0].Date == one.Date {
				one = stored[0]
				users.Merge(one.users)
			}
			stored = stored[1:]
		}
		reply.Items = append(reply.Items, one)
	}
	reply.UserCount = users.Count()
	return reply, nil
}
