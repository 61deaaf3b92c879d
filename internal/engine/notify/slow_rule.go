package notify

import (
	"cmp"
	"fmt"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
)

// SlowRule is a rule that would have cost too much and counted as not matching.
type SlowRule struct {
	Where    string // such as channel 7
	Stage    string // such as drop or escalation
	ID, Name string // of the rule; one of them may be empty
	About    string // title of what it was asked about
	Why      string
}

// slow is what is told, as messages name it.
const slow = "rule_too_slow"

// Slow tells the account's owner of a rule that cost too much, once an hour.
func (r *Service) Slow(tx *db.Tx, account int64, rule SlowRule, now time.Time) error {
	key := fmt.Sprintf("%s/%s/%s/%s/%d", slow, rule.Where, rule.Stage, cmp.Or(rule.ID, rule.Name), now.Unix()/3600)
	told, err := Told(tx, account, key)
	if err != nil || told {
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
	text := fmt.Sprintf("The %s rule %s of %s was not applied to %q: %s. Until it is made simpler this happens again. Use fewer values and shorter regular expressions.", rule.Stage, name, rule.Where, rule.About, rule.Why)
	return r.Tell(tx, p, nil, "Warning", Notification{Account: account, Key: key, Event: slow, Cause: SlowRules, Reason: "the account's owner",
		Detail: Detail{Rule: rule.ID, RuleName: rule.Name, Subject: fmt.Sprintf("Rule %s takes too long and is not applied", name), Text: text}}, now)
}
