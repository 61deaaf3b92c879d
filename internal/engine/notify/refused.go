package notify

import (
	"maps"
	"slices"
	"strings"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/preference"
)

// replace stores notifications over the other methods of a person for pages that failed for good: those that the person
// prefers first, then every one that may work, each once. When none is left, the person counts as absent. One that cannot
// be replaced, because its incident or its escalation is corrupt, must not keep the others from being replaced, nor the
// result of the attempt from being stored: the message would be sent again.
func (r *Service) replace(tx *db.Tx, final []*member, now time.Time) error {
	known := map[string]methods{} // by severity; all members have the same person
	for _, m := range final {
		n := &m.Notification
		if n.Person == 0 || m.urgency > lastPage {
			continue
		}
		failed, err := tx.Try(func() error { return r.replaceOne(tx, n, known, now) })
		if err != nil {
			return err
		}
		if failed != nil {
			r.Log.Error("no other method replaces a notification that failed", "account_id", n.Account, "notice_id", n.ID, "error", failed)
		}
	}
	return nil
}

// replaceOne is replace for one page; known caches the methods of its person by severity.
func (r *Service) replaceOne(tx *db.Tx, n *Notification, known map[string]methods, now time.Time) error {
	prefix, named := strings.CutSuffix(n.Key, "/"+n.Method) // what its keys over all methods begin with
	if !named {
		return nil
	}
	i, found, err := incident.Find(tx, n.Account, n.Incident)
	if err != nil || !found || i.Progress == incident.Closed {
		return err
	}
	tried, reached, err := tries(tx, n.Account, prefix)
	if err != nil || reached {
		return err
	}
	all, read := known[i.Severity]
	if !read {
		all, err = r.methodsOf(tx, n.Account, n.Person, i.Severity, now)
		if err != nil {
			return err
		}
		known[i.Severity] = all
	}
	if next := all.untried(tried); len(next) > 0 {
		return r.putOthers(tx, *n, prefix, i.Severity, next, now)
	}
	if r.Absent == nil || slices.Contains(slices.Collect(maps.Values(tried)), Waiting) {
		return nil
	}
	return r.Absent(tx, n, now)
}

// putOthers stores a notification over other methods.
func (r *Service) putOthers(tx *db.Tx, n Notification, prefix, severity string, methods []Reach, now time.Time) error {
	before := n.Method
	n.Severity = severity
	n.Attempts = 0
	n.Due = 0
	n.Settled = 0
	n.Outcome = ""
	n.Reason = RefusedReason(n.Reason, before)
	for _, reach := range methods {
		n.Key = prefix + "/" + reach.Method
		n.Method = reach.Method
		n.Address = reach.Address
		if !reach.After.IsZero() {
			n.Due = reach.After.UnixMilli()
		}
		if err := r.Put(tx, n, now); err != nil {
			return err
		}
	}
	return nil
}

// RefusedReason returns the reason of the notifications that replace one with a reason over a method.
func RefusedReason(reason sentence.Value, method string) sentence.Value {
	return sentence.Join(reason, sentence.New("refused_it", kindOf(method)))
}

// tries returns the status of a person's notification over each method, by method, and whether one of them was sent, or
// is about to be for the first time.
func tries(tx *db.Tx, account int64, prefix string) (tried map[string]string, reached bool, err error) {
	type row struct {
		method, status string
		attempts       int64
	}
	rows, err := db.All(tx, func(scan db.Scan) (w row, err error) { return w, scan(&w.method, &w.status, &w.attempts) },
		`SELECT way, status, attempts FROM notice WHERE account_id = $1 AND notice_key >= $2 AND notice_key < $3`,
		account, prefix+"/", prefix+"0") // 0 comes after the slash
	tried = map[string]string{}
	for _, w := range rows {
		tried[w.method] = w.status
		reached = reached || w.status == Sent || w.status == Sending || w.status == Waiting && w.attempts == 0
	}
	return tried, reached, err
}

// methods are the methods by which a person may be reached.
type methods struct {
	preferred, others []Reach
}

// untried returns the preferred methods that were not tried, or else the others.
func (m methods) untried(tried map[string]string) []Reach {
	was := func(reach Reach) bool { return tried[reach.Method] != "" || reach.Lacks != "" }
	if left := slices.DeleteFunc(slices.Clone(m.preferred), was); len(left) > 0 {
		return left
	}
	return slices.DeleteFunc(slices.Clone(m.others), was)
}

// methodsOf returns every method by which a person may be reached now.
func (r *Service) methodsOf(tx *db.Tx, account, person int64, severity string, now time.Time) (m methods, err error) {
	p, found, err := Find(tx, account, person)
	if err != nil || !found {
		return m, err
	}
	m.preferred, _, err = r.Reaches(tx, account, p, nil, severity, now)
	if err != nil {
		return m, err
	}
	pref, err := preference.Of(tx, account, person)
	if err != nil {
		return m, err
	}
	if err := preference.Kind.Open(r.Keyring, account, &pref); err != nil { // the others work without contacts
		pref.Contacts = nil
	}
	names := append([]string{"email", "sms", "voice", methodPush}, slices.Sorted(maps.Keys(pref.Contacts))...)
	names = append(names, integration.SlackApp, integration.FeishuApp, integration.DingTalkApp, integration.WeComApp)
	for _, name := range names {
		found, lacks, err := r.reachesOver(tx, account, p, pref, name)
		if err != nil {
			return m, err
		}
		if lacks == "" {
			m.others = append(m.others, found...)
		}
	}
	return m, nil
}
