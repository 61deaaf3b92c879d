package jobs

import "time"

// pauses keep an account that always has work from using the processors, and the database, without a pause, however quick it
// is: when it works for much longer than the others that are at work do on average, its rounds take a quarter of the time
// at most. Accounts that work about as much as each other notice nothing, nor does one that is alone, or one with rounds now and
// then. Times are those of the machine, not of the program's clock.
type pauses struct {
	credit time.Duration // of use without a pause
	used   map[int64]use
	began  time.Time     // of the window that is counted
	total  time.Duration // of all accounts, in the window before it
	active int           // accounts in that
}

// use is how long the rounds of an account took.
type use struct {
	sum       time.Duration // lately: it falls by a quarter of the time that passes
	at        time.Time
	now, last time.Duration // in this window, and in the one before
}

const (
	window  = time.Second
	much    = 3               // times as long as the others on average
	part    = 4               // the rounds of such an account take one of so many parts of the time
	longest = 2 * time.Second // pause after a round
)

// after notes a round and returns how long its account pauses after it.
func (p *pauses) after(account int64, began, ended time.Time) time.Duration {
	if ended.Sub(p.began) > window {
		p.turn(ended)
	}
	u := p.used[account]
	u.sum = min(max(0, u.sum-ended.Sub(u.at)/part)+ended.Sub(began), p.credit+longest)
	u.now, u.at = u.now+ended.Sub(began), ended
	p.used[account] = u
	if p.active < 2 || u.last <= much*(p.total-u.last)/time.Duration(p.active-1) {
		return 0
	}
	return min(part*max(0, u.sum-p.credit), longest)
}

// turn begins the next window, and forgets the accounts that had no round in the last one.
func (p *pauses) turn(now time.Time) {
	p.began, p.total, p.active = now, 0, 0
	for account, u := range p.used {
		u.last, u.now = u.now, 0
		if u.last == 0 {
			delete(p.used, account)
			continue
		}
		p.used[account] = u
		p.total += u.last
		p.active++
	}
}
