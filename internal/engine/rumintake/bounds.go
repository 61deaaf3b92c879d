package rumintake

import (
	"hash/fnv"
	"net/netip"
	"slices"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/core/rumerror"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/rum"
)

// maxSenders is how many senders have a rate of their own. Those beyond share one.
const maxSenders = 100_000

// sender is an address that sends errors to an application.
type sender struct {
	application string
	network     netip.Prefix // the zero Prefix: the address is not known, or many senders share it
}

func senderOf(c *api.Call, a *rum.Application) sender {
	s := sender{application: a.ApplicationID}
	if address, err := netip.ParseAddr(c.IP); err == nil && !c.Shared {
		s.network = ratelimit.Network(address)
	}
	return s
}

// bounded reports whether the sender has bounds of its own, besides those of the application.
func (s sender) bounded() bool { return s.network.IsValid() }

// part is one of the parts of an application's senders, by address.
type part struct {
	application string
	number      byte
}

// part returns the part that a sender belongs to. So senders with many addresses cost no memory, and cannot use up what the
// senders of another application share.
func (s sender) part() part {
	h := fnv.New32a()
	h.Write([]byte(s.network.String()))
	return part{s.application, byte(h.Sum32())}
}

// number returns a number from 1 to 65,536 for the address of a sender, another one for each key. It is stored where the address
// must not be: very many addresses have the same.
func (s sender) number(key string) int64 {
	h := fnv.New32a()
	h.Write([]byte(key + " " + s.network.String()))
	sum := h.Sum32()
	return 1 + int64(uint16(sum^sum>>16))
}

// half returns half of a rate: one address must not use up all of an application's.
func half(r ratelimit.Rate) ratelimit.Rate {
	return ratelimit.Rate{PerSecond: (r.PerSecond + 1) / 2, PerMinute: (r.PerMinute + 1) / 2}
}

// withinRate counts the errors of a report against the rate of its address, and returns how many of them, from the first one,
// are within it.
func (r *Service) withinRate(one *report) int {
	if one.from.bounded() {
		for i := range one.batch.Errors {
			if !r.pace.Allow(one.from, ratelimit.Rate{PerSecond: r.ErrorsPerSecond}, one.now).OK {
				return i
			}
		}
	}
	return len(one.batch.Errors)
}

// admits reports whether errors of a new kind may be an issue: if one of their senders may send a further kind in this hour.
func (r *Service) admits(g *group) bool {
	g.admitted = g.admitted || r.one(g, r.kinds, r.KindsPerHour)
	return g.admitted
}

// mayOpen reports whether an issue may open an incident of its own: if one of its senders may open a further one in this hour. One
// address must not use up the incidents of the application: a new error of another address would then join what was notified.
func (r *Service) mayOpen(g *group) bool {
	return r.one(g, r.opened, min(r.KindsPerHour, maxAlerts)/2)
}

// one reports whether one of the senders of a group is within a limit per hour, and counts the group for this sender.
func (r *Service) one(g *group, counted *ratelimit.Table[sender], perHour int) bool {
	rate, now := ratelimit.Rate{PerMinute: perHour}, hourly(g.now)
	return slices.ContainsFunc(g.senders, func(s sender) bool { return !s.bounded() || counted.Allow(s, rate, now).OK })
}

// hourly returns the time on a clock that is sixty times as slow. By that clock a limit per minute is one per hour.
func hourly(now time.Time) time.Time { return time.Unix(0, now.UnixNano()/60) }

// beyond reports whether errors of a new kind are beyond the bounds of the application or of their senders. They then count on
// the issue of other errors. A client token is public: without bounds its senders could fill the database.
func (w *writer) beyond(g *group) (bool, error) {
	full, err := w.tooMany(g)
	if err != nil || !full && w.admits(g) {
		return false, err
	}
	w.tx.OnCommit(func() { w.errors.WithLabelValues("over").Add(float64(len(g.errors))) })
	at := slices.IndexFunc(w.others, func(o *group) bool { return o.application.ApplicationID == g.application.ApplicationID })
	if at < 0 {
		at = len(w.others)
		w.others = append(w.others, &group{fingerprint: rumerror.Other(g.application.ApplicationID), other: true})
	}
	o := w.others[at]
	o.application, o.now = g.application, g.now
	o.errors, o.noise = append(o.errors, g.errors...), g.noise
	if g.alerted != nil {
		o.alerted = g.alerted
	}
	for _, one := range g.reports {
		if !slices.Contains(o.reports, one) {
			o.reports = append(o.reports, one)
		}
	}
	return true, nil
}

// tooMany reports whether the application has so many new issues that no further one is stored.
func (w *writer) tooMany(g *group) (full bool, err error) {
	id := g.application.ApplicationID
	if w.full[id] {
		return true, nil
	}
	n, err := rum.CountNew(w.tx, w.account, id, g.now.Add(-hour))
	if err != nil || n < maxNewIssues {
		return false, err
	}
	w.full[id] = true
	return true, w.raiseTooMany(&g.application, g.now)
}

// other stores the errors of kinds beyond the bounds. They are one issue of the application, whatever their service and
// version.
func (w *writer) other(g *group) error {
	issue, found, err := rum.IssueOf(w.tx, w.account, g.application.ApplicationID, g.fingerprint)
	if err != nil {
		return err
	}
	if !found {
		issue = newIssue(g)
		issue.Service, issue.Error = "", rum.Error{Message: rumerror.OtherMessage, Type: rumerror.OtherType}
		issue.SuspectedCause.Value = "unknown"
		if err := issue.Insert(w.tx, w.account); err != nil {
			return err
		}
		if err := issue.AddFingerprint(w.tx, w.account, g.fingerprint); err != nil {
			return err
		}
	}
	return w.record(&issue, g)
}

// version returns the version of an error as its issue has it.
func (g *group) version(e *rumerror.Error) string {
	if g.other {
		return ""
	}
	return e.Version
}
