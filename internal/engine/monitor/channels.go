package monitor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// errMarked refuses transitions of an instance whose channels are to change first.
var errMarked = errors.New("a channel of the rule was disabled or enabled")

// marked reports whether the channels of an instance are to change.
func (i *instance) marked() bool {
	return i.closeAt > 0 && (sentence.Value(i.closing).Is("mon_channel_disabled") || sentence.Value(i.closing).Is("mon_channel_enabled"))
}

// ChannelSwitched is SwitchChannel, and wakes the job that does it.
func (r *Service) ChannelSwitched(tx *db.Tx, account int64, ch *channel.Channel, by int64, now time.Time) error {
	tx.OnCommit(func() { r.wake.RaiseFor(account) })
	return SwitchChannel(tx, account, ch, by, now)
}

// SwitchChannel lets what rules have open end in a channel that was disabled, and begin in a channel that was enabled; it stays open
// in other channels. The rows are marked like instances that are to be closed, with a reason about the channel, in
// the transaction that did it.
func SwitchChannel(tx *db.Tx, account int64, ch *channel.Channel, by int64, now time.Time) error {
	open, err := db.All(tx, db.Column[int64], `SELECT DISTINCT rule_id FROM rule_instance WHERE account_id = $1`, account)
	if err != nil || len(open) == 0 {
		return err
	}
	who, err := nameOf(tx, account, by)
	if err != nil {
		return err
	}
	why := sentence.New("mon_channel_disabled", ch.ChannelName, who)
	if ch.Status == "enabled" {
		why = sentence.New("mon_channel_enabled", ch.ChannelName, who)
	}
	naming, err := configstore.Sources(tx, account, configstore.Channel, ch.ChannelID, configstore.AlertRule)
	if err != nil {
		return err
	}
	for _, rule := range open {
		named := slices.Contains(naming, fmt.Sprint(uint64(rule)))
		err := tx.Do(`UPDATE rule_instance SET close_at = $4, closing = $5 WHERE account_id = $1 AND rule_id = $2
			AND (close_at = 0 OR closing LIKE '{"code":"mon_channel_%') AND ($6 = 1 OR channels LIKE '%' || $3 || '%')`,
			account, rule, fmt.Sprint(ch.ChannelID), now.Unix(), string(why), map[bool]int64{true: 1}[named])
		if err != nil {
			return err
		}
	}
	return nil
}

// takers returns the channels of a rule that take alerts. unrouted reports that it names channels, and none does.
func takers(tx *db.Tx, account int64, rule *alertrule.Rule) (channels []int64, unrouted bool, err error) {
	for _, id := range rule.ChannelIDs {
		ch, found, err := channel.Find(tx, account, id)
		if err != nil {
			return nil, false, err
		}
		if found && ch.Status == "enabled" {
			channels = append(channels, id)
		}
	}
	return channels, len(rule.ChannelIDs) > 0 && len(channels) == 0, nil
}

// move changes the channels of a marked instance to the channels that take alerts now, and writes the events of the others.
func (c *closing) move(tx *db.Tx, why sentence.Value, monitors int64, now time.Time) error {
	rule, found, err := alertrule.FindRule(tx, c.key.Account, c.key.Rule)
	if err != nil {
		return err
	}
	var into []int64
	if found && (len(c.channels) > 0 || c.Unrouted) { // else the route decides
		into, _, err = takers(tx, c.key.Account, &rule)
		if err != nil {
			return err
		}
	}
	var keep []int64
	for _, id := range c.channels {
		ch, found, err := channel.Find(tx, c.key.Account, id)
		if err != nil {
			return err
		}
		if found && ch.Status == "enabled" {
			keep = append(keep, id)
			continue
		}
		over := c.event(now, why.English()+".", monitors)
		over.Status = event.Ok
		over.ByHand = true
		c.events = append(c.events, toChannels(over, []int64{id}, now)...)
	}
	for _, id := range into {
		if !slices.Contains(keep, id) {
			keep = append(keep, id)
			c.events = append(c.events, toChannels(c.event(now, why.English()+".", monitors), []int64{id}, now)...)
		}
	}
	c.Unrouted = c.Unrouted || len(c.channels) > 0
	c.channels = keep
	return nil
}

// settle changes the channels of the marked instances of a watch before its next transitions are stored.
func (r *Service) settle(ctx context.Context, key evaluator.Key) error {
	now := r.Clock.Now()
	var rows []closing
	err := r.DB.Read(db.For(ctx, key.Account), func(tx *db.Tx) error {
		open, err := instancesOf(tx, key)
		for _, i := range open {
			if i.marked() {
				rows = append(rows, closing{instance: i})
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	work := r.closings()
	for part := range slices.Chunk(rows, putAtOnce) {
		if err := work.Process(&jobs.Round{Ctx: ctx, Account: key.Account, Now: now}, part); err != nil {
			return err
		}
	}
	return nil
}
