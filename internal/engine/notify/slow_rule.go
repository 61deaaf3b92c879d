package notify

import (
	"cmp"
	"fmt"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
)

// SlowRule is a rule whose matching would have cost too much, and which counted as not matching.
type SlowRule struct {
	Where    string // such as channel 7
	Stage    string // such as drop or escalation
	ID, Name string // of the rule; one of them may be empty
	About    string // title of the alert or incident that it was matched against
	Why      string
}

// slow is the event type of these notifications.
const slow = "rule_too_slow"

// Slow notifies the account's owner of a rule that cost too much, once an hour for each rule.
func (r *Service) Slow(tx *db.Tx, account int64, rule SlowRule, now time.Time) error {
	key := fmt.Sprintf("%s/%s/%s/%s/%d", slow, rule.Where, rule.Stage, cmp.Or(rule.ID, rule.Name), now.Unix()/3600)
	notified, err := Stored(tx, account, key)
	if err != nil || notified {
		return err
	}
	owner, err := auth.OwnerOf(tx, account)
	if err != nil {
		return err
	}
	p, found, err := Find(tx, account, owner)
	if err != nil || !found {
		return err
	}
	name := cmp.Or(rule.Name, rule.ID)
	text := fmt.Sprintf("The %s rule %s of %s was not applied to %q: %s. This happens again until the rule is made simpler. "+
		"Use fewer values and shorter regular expressions.", rule.Stage, name, rule.Where, rule.About, rule.Why)
	subject := fmt.Sprintf("Rule %s takes too long and is not applied", name)
	return r.PutFor(tx, p, nil, "Warning", Notification{
		Account: account,
		Key:     key,
		Event:   slow,
		Cause:   SlowRules,
		Reason:  sentence.New("owner"),
		Detail:  Detail{Rule: rule.ID, RuleName: rule.Name, Subject: subject, Text: text},
	}, now)
}
