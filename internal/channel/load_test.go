package channel_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// TestDumpEqualsLoad loads random records and reads them back.
func TestDumpEqualsLoad(t *testing.T) {
	t.Parallel()
	d, undo := apitest.Start(t).DB, errors.New("undo")
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		channels := []channel.Channel{}
		silences := []channel.SilenceRule{}
		drops := []channel.DropRule{}
		for i := range 1 + rng.Int64N(4) {
			channels = append(channels, channel.Channel{ChannelID: i + 1, ChannelName: text(rng), TeamID: rng.Int64N(3), Status: one(rng, "enabled", "disabled"),
				Description: one(rng, "", text(rng)), IsPrivate: rng.IntN(2) == 0, CreatedAt: rng.Int64N(3), UpdatedAt: rng.Int64N(3)})
		}
		for i := range rng.IntN(10) {
			silences = append(silences, randomSilence(rng, i, len(channels)))
			drops = append(drops, channel.DropRule{Rule: randomRule(rng, i, len(channels)), Filters: randomFilters(rng)})
		}
		err := within(d, func(tx *db.Tx) error {
			if err := channel.Load(tx, apitest.AccountA, channels); err != nil {
				return err
			}
			if err := channel.Silences.Load(tx, nil, apitest.AccountA, silences); err != nil {
				return err
			}
			if err := channel.Drops.Load(tx, nil, apitest.AccountA, drops); err != nil {
				return err
			}
			gotChannels, err := channel.Dump(tx, apitest.AccountA)
			same(t, seed, channels, gotChannels, err)
			gotSilences, err := channel.Silences.Dump(tx, nil, apitest.AccountA, true)
			same(t, seed, silences, gotSilences, err)
			gotDrops, err := channel.Drops.Dump(tx, nil, apitest.AccountA, true)
			same(t, seed, drops, gotDrops, err)
			others, err := channel.Drops.Dump(tx, nil, apitest.AccountB, true)
			same(t, seed, []channel.DropRule{}, others, err)
			return undo
		})
		if !errors.Is(err, undo) {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func same(t *testing.T, seed uint64, want, got any, err error) {
	t.Helper()
	if err != nil || !reflect.DeepEqual(want, got) {
		t.Fatalf("seed %d: %v; got\n%+v\nwant\n%+v", seed, err, got, want)
	}
}

func one(rng *rand.Rand, values ...string) string { return values[rng.IntN(len(values))] }

func text(rng *rand.Rand) string {
	return one(rng, "Payments", "支付", `"quoted" & <b>`, strings.Repeat("é", 39))
}

func randomRule(rng *rand.Rand, i, channels int) channel.Rule {
	return channel.Rule{AccountID: apitest.AccountA, ChannelID: 1 + rng.Int64N(int64(channels)), Priority: rng.Int64N(5) - 1, RuleName: text(rng), Description: one(rng, "", text(rng)),
		Status: one(rng, "enabled", "disabled", "deleted"), RuleID: fmt.Sprintf("%024x", i), UpdatedBy: rng.Int64N(9), CreatedAt: rng.Int64N(9), UpdatedAt: rng.Int64N(9), DeletedAt: rng.Int64N(2)}
}

func randomSilence(rng *rand.Rand, i, channels int) channel.SilenceRule {
	r := channel.SilenceRule{Rule: randomRule(rng, i, channels), Filters: randomFilters(rng), FromIncidentID: one(rng, id.NilObject, "69b3c426b4a6f5abf1f54870"), TimeFilters: []channel.TimeFilter{},
		IsDirectlyDiscard: rng.IntN(2) == 0, IsAutoDelete: rng.IntN(2) == 0}
	if rng.IntN(2) == 0 {
		from := 1 + rng.Int64N(1000)
		r.TimeFilter = &channel.OnceTimeFilter{StartTime: from, EndTime: from + 1 + rng.Int64N(1000)}
		return r
	}
	for range 1 + rng.IntN(3) {
		w := channel.TimeFilter{Start: one(rng, "00:00", "23:58"), End: one(rng, "09:30", "23:59"), Repeat: []int{}}
		if rng.IntN(2) == 0 {
			w.CalID, w.IsOff = new("cn"), new(rng.IntN(2) == 0)
		} else {
			w.Repeat = append(w.Repeat, rng.IntN(7), rng.IntN(7))
		}
		r.TimeFilters = append(r.TimeFilters, w)
	}
	return r
}

func TestLoadFillsInWhatMayBeLeftOut(t *testing.T) {
	t.Parallel()
	s := start(t)
	yes := true
	r := channel.SilenceRule{Rule: rule(open, "69B3C426B4A6F5ABF1F54873", 0, 1), Filters: info, TimeFilters: []channel.TimeFilter{{Start: "09:00", End: "10:00"}},
		TimeFilter: &channel.OnceTimeFilter{}, IsEffective: &yes}
	s.Write(func(tx *db.Tx) error {
		if err := channel.Silences.Load(tx, nil, apitest.AccountA, []channel.SilenceRule{r}); err != nil {
			return err
		}
		got, err := channel.Silences.Dump(tx, nil, apitest.AccountA, true)
		r.AccountID = apitest.AccountA
		r.Status = "enabled"
		r.RuleID = strings.ToLower(r.RuleID)
		r.FromIncidentID = id.NilObject
		r.TimeFilter = nil
		r.IsEffective = nil
		r.TimeFilters[0].Repeat = []int{}
		same(t, 0, []channel.SilenceRule{r}, got, err)
		return nil
	})
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	s := start(t)
	good := func() channel.SilenceRule {
		return channel.SilenceRule{Rule: rule(open, "69b3c426b4a6f5abf1f54873", 0, 1), Filters: info, TimeFilter: &channel.OnceTimeFilter{StartTime: 1, EndTime: 2}}
	}
	window := func(w channel.TimeFilter) func(*channel.SilenceRule) {
		return func(r *channel.SilenceRule) { r.TimeFilter, r.TimeFilters = nil, []channel.TimeFilter{w} }
	}
	for _, c := range []struct {
		spoil func(r *channel.SilenceRule)
		want  string
	}{
		{func(r *channel.SilenceRule) { r.AccountID = 5 }, "silence_rules[1].account_id: must be 2451002751131, the account of the file, got 5"},
		{func(r *channel.SilenceRule) { r.RuleID = "69b3" }, `silence_rules[1].rule_id: must be 24 hexadecimal digits, got "69b3"`},
		{func(r *channel.SilenceRule) {}, "silence_rules[1]: 69b3c426b4a6f5abf1f54873 is given twice"},
		{func(r *channel.SilenceRule) { r.ChannelID = foreign }, "silence_rules[1].channel_id: channel 2001 does not exist"},
		{func(r *channel.SilenceRule) { r.RuleName = "" }, "silence_rules[1].rule_name: must have 1 to 39 characters, got 0"},
		{func(r *channel.SilenceRule) { r.RuleName = strings.Repeat("é", 40) }, "got 40"},
		{func(r *channel.SilenceRule) { r.Description = strings.Repeat("é", 501) }, "silence_rules[1].description: must have 0 to 500 characters, got 501"},
		{func(r *channel.SilenceRule) { r.Status = "on" }, `silence_rules[1].status: must be one of enabled, disabled, deleted, got "on"`},
		{func(r *channel.SilenceRule) { r.CreatedAt = -1 }, "silence_rules[1].created_at: must be at least 0, got -1"},
		{func(r *channel.SilenceRule) { r.FromIncidentID = "x" }, "silence_rules[1].from_incident_id"},
		{func(r *channel.SilenceRule) { r.Filters = nil }, "silence_rules[1].filters: must have at least one group"},
		{func(r *channel.SilenceRule) { r.Filters = filter.Filter{{{Key: "a", Oper: "LIKE"}}} }, "silence_rules[1].filters"},
		{func(r *channel.SilenceRule) { r.TimeFilter = nil }, "silence_rules[1].time_filter: a silence rule needs"},
		{func(r *channel.SilenceRule) { r.TimeFilters = []channel.TimeFilter{{Start: "09:00", End: "10:00"}} }, "silence_rules[1].time_filter: must be null beside time_filters"},
		{func(r *channel.SilenceRule) { r.TimeFilter.EndTime = 1 }, "before end_time, got 1 and 1"},
		{func(r *channel.SilenceRule) { r.TimeFilter.StartTime = 0 }, "at least 1"},
		{window(channel.TimeFilter{Start: "9:00", End: "10:00"}), `silence_rules[1].time_filters[0].start: must be HH:MM, got "9:00"`},
		{window(channel.TimeFilter{Start: "09:00", End: "24:00"}), `silence_rules[1].time_filters[0].end: must be HH:MM, got "24:00"`},
		{window(channel.TimeFilter{Start: "09:00", End: "09:00"}), "silence_rules[1].time_filters[0].end: must differ from start"},
		{window(channel.TimeFilter{Start: "09:00", End: "10:00", Repeat: []int{0, 7}}), "silence_rules[1].time_filters[0].repeat[1]: must be from 0 to 6, got 7"},
		{window(channel.TimeFilter{Start: "09:00", End: "10:00", Repeat: []int{0}, CalID: new("cn")}), "silence_rules[1].time_filters[0].cal_id: must be empty beside repeat"},
	} {
		r := good()
		c.spoil(&r)
		err := within(s.DB, func(tx *db.Tx) error {
			return channel.Silences.Load(tx, nil, apitest.AccountA, []channel.SilenceRule{good(), r})
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	for want, ch := range map[string]channel.Channel{
		"channels[0].channel_id: must be at least 1, got 0":                {ChannelName: "A"},
		"channels[0].channel_id: 1001 is given twice":                      {ChannelID: open, ChannelName: "A"},
		"channels[0].channel_name: must have 1 to 255 characters, got 0":   {ChannelID: 1},
		"channels[0].status: must be one of enabled, disabled, got \"on\"": {ChannelID: 1, ChannelName: "A", Status: "on"},
		"channels[0].team_id: must be at least 0, got -1":                  {ChannelID: 1, ChannelName: "A", TeamID: -1},
	} {
		err := within(s.DB, func(tx *db.Tx) error { return channel.Load(tx, apitest.AccountA, []channel.Channel{ch}) })
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	drop := channel.DropRule{Rule: rule(open, "69b3c426b4a6f5abf1f54873", 0, 1), Filters: info}
	err := within(s.DB, func(tx *db.Tx) error {
		return channel.Drops.Load(tx, nil, apitest.AccountA, []channel.DropRule{drop, drop})
	})
	if err == nil || !strings.Contains(err.Error(), "drop_rules[1]: 69b3c426b4a6f5abf1f54873 is given twice") {
		t.Error(err)
	}
}

func randomFilters(rng *rand.Rand) filter.Filter {
	groups := filter.Filter{}
	for range 1 + rng.IntN(3) {
		groups = append(groups, []filter.Condition{{Key: "labels." + text(rng), Oper: one(rng, "IN", "NOTIN"), Vals: []string{text(rng), ""}}})
	}
	return groups
}
