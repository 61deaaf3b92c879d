package route

import (
	"fmt"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

// RemoveChannel removes a channel that is being deleted from all routes of the account. Each changed route gets a new
// version. The warnings name the changed routes, and where the alerts go that were sent to the channel. Of a route with
// another private channel, which the caller may not read, they name no case.
func RemoveChannel(c *api.Call, channel int64) (warnings []string, err error) {
	ids, err := configstore.Sources(c.Tx, c.Who.AccountID, configstore.Channel, channel, Kind.Name)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		r, err := Kind.Get(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return nil, err
		}
		hidden := r.permit(c)
		if hidden != nil && fault.KindOf(hidden) != fault.AccessDenied {
			return nil, hidden
		}
		before := r
		changes := r.without(channel)
		if hidden != nil {
			changes = []string{"no longer names the channel; alerts that went only there go to its next cases, then to its default"}
		}
		for _, change := range changes {
			warnings = append(warnings, Kind.Head(&r).Name+": "+change)
		}
		if err := r.store(c, before); err != nil {
			return nil, err
		}
	}
	return warnings, nil
}

// store stores the route as a new version. The version before is kept: that of an account file is not in the history yet.
func (r *Route) store(c *api.Call, before Route) error {
	if before.Version > 0 {
		if _, err := versions.Insert(c.Tx, c.Who.AccountID, &before); err != nil {
			return err
		}
	}
	r.Version = r.Version + 1
	r.UpdatedAt = c.Unix()
	r.UpdatedBy = c.Who.PersonID
	c.Touched(configstore.Integration, r.IntegrationID, "")
	c.Touched(Kind.Name, strconv.FormatInt(r.IntegrationID, 10), Kind.Head(r).Name)
	if _, err := versions.Insert(c.Tx, c.Who.AccountID, r); err != nil {
		return err
	}
	return Kind.Put(c.Tx, c.Who.AccountID, r)
}

// without removes a channel from the route and returns each change in words. A case that names no other channel is
// deleted: its alerts meet the next cases, then the default. The conditions of a case are never removed, because a case
// without conditions would take every alert. A route keeps a default, because one without cases and default is invalid.
func (r *Route) without(channel int64) (changes []string) {
	same := func(id int64) bool { return id == channel }
	kept, moved := []Case{}, make([]int64, len(r.Cases)+1) // moved is where the heading above each case goes
	for i, c := range r.Cases {
		moved[i] = int64(len(kept))
		if !slices.ContainsFunc(c.ChannelIDs, same) {
			kept = append(kept, c)
			continue
		}
		c.ChannelIDs = slices.DeleteFunc(slices.Clone(c.ChannelIDs), same)
		if len(c.ChannelIDs) > 0 || c.RoutingMode == NameMapping {
			kept = append(kept, c)
			changes = append(changes, fmt.Sprintf("cases[%d] no longer names the channel", i))
			continue
		}
		changes = append(changes, fmt.Sprintf(
			"cases[%d] is deleted, because it names no other channel; its alerts go to the next cases that they meet, then to the default", i))
	}
	moved[len(r.Cases)] = int64(len(kept))
	sections := slices.Clone(r.Sections)
	for i, s := range sections {
		sections[i].Position = moved[min(s.Position, int64(len(r.Cases)))]
	}
	r.Cases, r.Sections = kept, sections
	if r.Default == nil && len(r.Cases) > 0 {
		return changes
	}
	var others []int64
	if r.Default != nil {
		others = slices.DeleteFunc(slices.Clone(r.Default.ChannelIDs), same)
	}
	switch {
	case r.Default != nil && len(others) == len(r.Default.ChannelIDs):
	case len(others) > 0:
		changes = append(changes, "default no longer names the channel")
	default:
		changes = append(changes, "default names no channel any more; alerts that no case sends anywhere reach only the account's fallback")
	}
	r.Default = &Default{ChannelIDs: others}
	return changes
}
