package gate

import "time"

// Company reports whether more than one account is active. An account that is not alone must leave room for others, however few
// they are. Its zero value is ready. It is not safe for use by several goroutines at once.
type Company struct {
	last [2]visit // of the two accounts that came last
}

type visit struct {
	account int64
	at      time.Time
}

// together is how long after the last visit of another account an account counts as alone.
const together = time.Second

// Alone notes the visit of an account and reports whether no other has come lately.
func (c *Company) Alone(account int64, now time.Time) bool {
	if c.last[0].account != account {
		c.last[1] = c.last[0]
	}
	c.last[0] = visit{account, now}
	return now.Sub(c.last[1].at) > together
}
