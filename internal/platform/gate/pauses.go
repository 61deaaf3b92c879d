package gate

import "time"

// Pauses keep an account that always has work from using something that accounts share without a pause, however quick its
// work is: when it works for much longer than the others that are at work do on average, its work takes a quarter of the time
// at most. Accounts that work about as much as each other notice nothing, nor does one that is alone, or one with work now and
// then. Times are those of the machine, not of the program's clock. Pauses are not safe for use by several goroutines at once.
type Pauses struct {
	Credit  time.Duration // of use without a pause
	Longest time.Duration // pause after a piece of work

	used   map[int64]use
	began  time.Time     // of the window that is counted
	total  time.Duration // of all accounts, in the window before it
	active int           // accounts in that
}

// use is how long the work of an account took.
type use struct {
	sum       time.Duration // lately: it falls by a quarter of the time that passes
	at        time.Time
	now, last time.Duration // in this window, and in the one before
}

const (
	window = time.Second
	much   = 3 // times as long as the others on average
	part   = 4 // the work of such an account takes one of so many parts of the time
)

// After notes a piece of work that has ended, and returns how long its account pauses after it.
func (p *Pauses) After(account int64, took time.Duration, ended time.Time) time.Duration {
	if p.used == nil {
		p.used = map[int64]use{}
	}
	if ended.Sub(p.began) > window {
		p.turn(ended)
	}
	u := p.used[account]
	u.sum = min(max(0, u.sum-ended.Sub(u.at)/part)+took, p.Credit+p.Longest)
	u.now, u.at = u.now+took, ended
	p.used[account] = u
	if p.active < 2 || u.last <= much*(p.total-u.last)/time.Duration(p.active-1) {
		return 0
	}
	return min(part*max(0, u.sum-p.Credit), p.Longest)
}

// turn begins the next window, and forgets the accounts that did no work in the last one.
func (p *Pauses) turn(now time.Time) {
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
