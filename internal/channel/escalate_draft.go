package channel

import (
	"errors"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/fault"
)

// Draft returns the enabled rule that a caller would store, after the checks of a write; nothing is stored. The caller needs the
// permission of a write: the checks report which persons, teams and schedules exist. at is the member of the request that holds the rule.
func (b EscalateBody) Draft(c *api.Call, at string) (EscalateRule, error) {
	r := EscalateRule{Rule: Rule{AccountID: c.Who.AccountID, ChannelID: b.ChannelID, Status: "enabled"}}
	if !c.Who.May(auth.ChannelsManage) {
		return r, fault.Denied("this key lacks the permission %s, which is required to preview a rule that is not stored", auth.ChannelsManage)
	}
	_, err := b.applyTo(c, &r)
	if wrong := (*fault.Error)(nil); errors.As(err, &wrong) && wrong.Field != "" {
		under := *wrong
		under.Field = at + "." + wrong.Field
		return r, &under
	}
	return r, err
}
