package channel

import (
	"cmp"
	"slices"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// AddSilence stores a responder's silence, enabled, and sets its id. The caller checks the permission to silence.
func AddSilence(c *api.Call, r *SilenceRule) error {
	r.AccountID, r.RuleID = c.Who.AccountID, id.Object(c.Now)
	r.CreatedAt, r.IsByResponder = c.Unix(), true
	r.normalise(c.Who.AccountID)
	if err := r.check(""); err != nil {
		return err
	}
	if err := fits(c, Silences, r); err != nil {
		return err
	}
	return touchRule(c, Silences, r)
}

// EndSilence deletes and returns a responder's silence that is not over. The error is AccessDenied for any other silence
// rule: its deletion takes a permission for channels.
func EndSilence(c *api.Call, rule string) (SilenceRule, error) {
	rule = strings.ToLower(rule)
	r, err := Silences.Get(c.Tx, c.Who.AccountID, rule)
	if err != nil {
		return r, err
	}
	switch err := Readable(c.Tx, c.Who, r.ChannelID); {
	case err != nil:
		return r, err
	case r.Status == "deleted":
		return r, fault.Missing(Silences.Name, rule)
	case !r.IsByResponder:
		return r, fault.Denied("silence rule %s is of the channel's configuration: only /channel/silence/rule/delete deletes it", rule)
	case r.TimeFilter == nil || r.TimeFilter.EndTime <= c.Unix():
		return r, fault.New(fault.Conflict, "silence rule %s is over", rule)
	}
	c.Removed(Silences.Name, r.RuleID, r.RuleName)
	return r, Silences.Delete(c.Tx, c.Who.AccountID, r.RuleID)
}

// RespondersSilences returns a channel's silences that responders made and that are not over, the oldest first. The elements
// are shared with other calls.
func RespondersSilences(c *api.Call, channel int64) (list []SilenceRule, err error) {
	rules, err := storedRules(c, Silences, channel)
	for _, r := range rules {
		if r.IsByResponder && r.Status == "enabled" && r.TimeFilter != nil && r.TimeFilter.EndTime > c.Unix() {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b SilenceRule) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), strings.Compare(a.RuleID, b.RuleID))
	})
	return list, err
}
