package channel

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/fault"
)

// The bounds of all rules of one kind that a channel has: an event is compared with each of them. filter.Size
// bounds what their filters cost together.
const (
	maxRules         = 500
	maxEscalateRules = 200  // as many as there are priorities; each may hold layers, persons and chats
	maxAllWindows    = 1000 // time_filters of all rules: each is evaluated for many minutes of a day when a rule changes
)

// weight is the cost of one rule, or of a channel's rules of one kind.
type weight struct {
	rules, windows int
	size           filter.Size
}

func (w weight) add(o weight) weight {
	return weight{w.rules + o.rules, w.windows + o.windows, w.size.Add(o.size)}
}

// check returns the bound that w is beyond, in words that follow the name of the list; empty: none. most is
// the number of rules of one channel.
func (w weight) check(most int) string {
	switch {
	case w.rules > most:
		return fmt.Sprintf("must have at most %d rules of one channel, got %d", most, w.rules)
	case w.windows > maxAllWindows:
		return fmt.Sprintf("must have at most %d time_filters of all rules together, got %d", maxAllWindows, w.windows)
	}
	return w.size.CheckList()
}

// smaller reports whether w costs no more than o in any respect.
func (w weight) smaller(o weight) bool {
	return w.rules <= o.rules && w.windows <= o.windows && w.size.Smaller(o.size)
}

// weigh returns the cost of a rule; a deleted rule costs nothing.
func weigh[T any, P ruled[T]](v P) weight {
	if r := v.rule(); r.Status == "deleted" || r.DeletedAt != 0 {
		return weight{}
	}
	filters, windows := v.conditions()
	w := weight{rules: 1, windows: windows}
	for _, f := range filters {
		w.size = w.size.Add(filter.Measure(f))
	}
	return w
}

// fits rejects a rule that takes its channel beyond the bounds. A channel that is beyond them already, because
// an older version had none, may still be changed to cost less.
func fits[T any, P ruled[T]](c *api.Call, kind configstore.Kind[T], v P) error {
	all, err := kind.Of(c.Tx, c.Who.AccountID, strconv.FormatInt(v.rule().ChannelID, 10))
	if err != nil {
		return err
	}
	var before, others weight
	for i := range all {
		w := weigh(P(&all[i]))
		before = before.add(w)
		if P(&all[i]).rule().RuleID != v.rule().RuleID {
			others = others.add(w)
		}
	}
	after := others.add(weigh(v))
	if why := after.check(v.maxRules()); why != "" && !after.smaller(before) {
		return fault.Invalid("channel_id", "%s", why)
	}
	return nil
}

// checkAll holds the rules of a section of an account file against the bounds, channel by channel.
func checkAll[T any, P ruled[T]](section string, records []T) error {
	weights := map[int64]weight{}
	for i := range records {
		channel := P(&records[i]).rule().ChannelID
		weights[channel] = weights[channel].add(weigh(P(&records[i])))
	}
	for _, channel := range slices.Sorted(maps.Keys(weights)) {
		if why := weights[channel].check(P(new(T)).maxRules()); why != "" {
			return configstore.RecordPath("").Invalid(section, "%s of channel %d", why, channel)
		}
	}
	return nil
}

func (r *Rule) maxRules() int { return maxRules }

func (r *EscalateRule) maxRules() int { return maxEscalateRules }

// conditions returns what an event, or an incident, is compared with: filters and the number of windows.
func (r *DropRule) conditions() ([]filter.Filter, int) { return []filter.Filter{r.Filters}, 0 }

func (r *SilenceRule) conditions() ([]filter.Filter, int) {
	return []filter.Filter{r.Filters}, len(r.TimeFilters)
}

func (r *InhibitRule) conditions() ([]filter.Filter, int) {
	return []filter.Filter{r.SourceFilters.Value, r.TargetFilters.Value}, 0
}

func (r *EscalateRule) conditions() ([]filter.Filter, int) {
	return []filter.Filter{r.Filters}, len(r.TimeFilters)
}
