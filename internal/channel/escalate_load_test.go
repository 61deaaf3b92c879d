package channel_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
)

// Rules are dumped as they were loaded, also when they replace other rules of the same ids. A dump without
// secrets has none. The objects that the rules refer to need not exist.
func TestEscalateRulesAreDumpedAsLoaded(t *testing.T) {
	t.Parallel()
	keyring := apitest.Box(t)
	for seed := range uint64(20) {
		s, rng := start(t), rand.New(rand.NewPCG(seed, 5))
		random := func() (all []channel.EscalateRule) {
			for i := range 5 {
				r := randomEscalate(rng, i, 1, "")
				r.ChannelID = open
				all = append(all, r)
			}
			return all
		}
		dump := func(secrets bool) (text string) {
			s.Read(func(tx *db.Tx) error {
				all, err := channel.Escalates.Dump(tx, keyring, apitest.AccountA, secrets)
				text = marshalled(t, all)
				return err
			})
			return text
		}
		records := random()
		want := marshalled(t, records)
		s.Write(func(tx *db.Tx) error {
			return channel.Escalates.Load(tx, keyring, apitest.AccountA, records)
		})
		if got := dump(true); got != want {
			t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, got, want)
		}
		if got := dump(false); strings.Contains(got, "hush") {
			t.Fatalf("seed %d: without secrets\n%s", seed, got)
		}
		s.Write(func(tx *db.Tx) error {
			for _, r := range records {
				if err := channel.Escalates.Delete(tx, apitest.AccountA, r.RuleID); err != nil {
					return err
				}
			}
			left, _, err := db.One(tx, db.Column[int64], `SELECT (SELECT count(*) FROM object) + (SELECT count(*) FROM reference WHERE from_kind = 'escalate_rule')`)
			if left != 0 {
				t.Errorf("seed %d: %d rules and references are left", seed, left)
			}
			return err
		})
	}
}

// An account file has the same bounds as the API.
func TestEscalateRulesThatAreRefused(t *testing.T) {
	t.Parallel()
	s, keyring := start(t), apitest.Box(t)
	for want, spoil := range map[string]func(*channel.EscalateRule){
		"channel_id":                                func(r *channel.EscalateRule) { r.ChannelID = 77 },
		"account_id":                                func(r *channel.EscalateRule) { r.AccountID = apitest.AccountB },
		"rule_name":                                 func(r *channel.EscalateRule) { r.RuleName = "" },
		"priority":                                  func(r *channel.EscalateRule) { r.Priority = 201 },
		"template_id":                               func(r *channel.EscalateRule) { r.TemplateID = "" },
		"aggr_window":                               func(r *channel.EscalateRule) { r.AggrWindow = -1 },
		"layers must":                               func(r *channel.EscalateRule) { r.Layers = nil },
		"layers[0].target notifies no one":          func(r *channel.EscalateRule) { r.Layers[0].Target = channel.Target{} },
		"layers[0].target.person_ids must":          func(r *channel.EscalateRule) { r.Layers[0].Target.PersonIDs = ids(101) },
		"layers[0].target.team_ids must":            func(r *channel.EscalateRule) { r.Layers[0].Target.TeamIDs = ids(101) },
		"layers[0].target.emails must":              func(r *channel.EscalateRule) { r.Layers[0].Target.Emails = make([]string, 101) },
		"layers[0].target.emails[0]":                func(r *channel.EscalateRule) { r.Layers[0].Target.Emails = []string{strings.Repeat("a", 256) + "@b"} },
		"layers[0].target.by.critical must":         func(r *channel.EscalateRule) { r.Layers[0].Target.By.Critical = make([]string, 21) },
		"layers[0].target.by.warning[0]":            func(r *channel.EscalateRule) { r.Layers[0].Target.By.Warning = []string{strings.Repeat("a", 65)} },
		"layers[0].target.webhooks must":            func(r *channel.EscalateRule) { r.Layers[0].Target.Webhooks = make([]channel.Webhook, 21) },
		"layers[0].target.webhooks[0].type":         func(r *channel.EscalateRule) { r.Layers[0].Target.Webhooks = make([]channel.Webhook, 1) },
		"layers[0].target.schedule_to_role_ids":     func(r *channel.EscalateRule) { r.Layers[0].Target.ScheduleToRoleIDs = map[string][]int64{"07": nil} },
		"layers[0].max_times":                       func(r *channel.EscalateRule) { r.Layers[0].MaxTimes = new(int64(7)) },
		"layers[0].notify_step":                     func(r *channel.EscalateRule) { r.Layers[0].NotifyStep = new(0.4) },
		"time_filters":                              func(r *channel.EscalateRule) { r.TimeFilters = make([]channel.TimeFilter, 101) },
		"filters must":                              func(r *channel.EscalateRule) { r.Filters = make(filter.Filter, 101) },
		"layers[0].target.person_ids[0] must be at": func(r *channel.EscalateRule) { r.Layers[0].Target.PersonIDs = []int64{0} },
	} {
		r := randomEscalate(rand.New(rand.NewPCG(1, 6)), 1, 1, "")
		r.ChannelID = open
		spoil(&r)
		err := within(s.DB, func(tx *db.Tx) error {
			return channel.Escalates.Load(tx, keyring, apitest.AccountA, []channel.EscalateRule{r})
		})
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), ": ", " "), "escalate_rules[0]."+want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func ids(n int) (list []int64) {
	for i := range n {
		list = append(list, int64(i+1))
	}
	return list
}

// randomEscalate returns a rule in canonical form; forged, when not empty, is a text that looks sealed.
func randomEscalate(rng *rand.Rand, i, channels int, forged string) channel.EscalateRule {
	r := channel.EscalateRule{Rule: randomRule(rng, i, channels), TemplateID: templateID, AggrWindow: rng.Int64N(3601), TimeFilters: []channel.TimeFilter{}, Filters: filter.Filter{}}
	r.Priority = rng.Int64N(201)
	r.Repeat = maybe(rng, channel.Repeat{Times: new(rng.Int64N(21)), Interval: maybe(rng, 5+rng.Int64N(1436))})
	if rng.IntN(2) == 0 {
		r.Filters = randomFilters(rng)
		r.TimeFilters = append(r.TimeFilters, channel.TimeFilter{Start: "09:00", End: "18:00", Repeat: []int{1, 5}})
	}
	for range 1 + rng.IntN(3) {
		l := channel.Layer{MaxTimes: maybe(rng, rng.Int64N(7)), NotifyStep: maybe(rng, 0.5+float64(rng.IntN(200))/4), EscalateWindow: maybe(rng, rng.Int64N(721)), ForceEscalate: maybe(rng, rng.IntN(2) == 0)}
		l.Target.By = &channel.By{FollowPreference: maybe(rng, true), Critical: []string{"voice"}}
		if rng.IntN(2) == 0 {
			l.Target.PersonIDs, l.Target.TeamIDs = []int64{7, 3}, []int64{}
			l.Target.ScheduleToRoleIDs = map[string][]int64{"5": {1, 0}, "6": {}}
		}
		for range 1 + rng.IntN(2) {
			settings := map[string]jsontext.Value{}
			for range rng.IntN(5) {
				settings[one(rng, "token", "alias", "hook_url", "sealed_json", "headers", "limit")] = randomSetting(rng, forged, 3)
			}
			l.Target.Webhooks = append(l.Target.Webhooks, channel.Webhook{Type: "slack", Settings: settings})
		}
		r.Layers = append(r.Layers, l)
	}
	return r
}

func maybe[T any](rng *rand.Rand, v T) *T {
	if rng.IntN(3) == 0 {
		return nil
	}
	return &v
}

// randomSetting returns values in which every secret contains "hush".
func randomSetting(rng *rand.Rand, forged string, depth int) jsontext.Value {
	quoted := func(s string) jsontext.Value { return jsontext.Value(fmt.Sprintf("%q", s)) }
	switch n := rng.IntN(10); {
	case n < 2 && depth > 0:
		return jsontext.Value(fmt.Sprintf(`{%q:%s}`, one(rng, "a", "secret", "sealed_json"), randomSetting(rng, forged, depth-1)))
	case n < 4 && depth > 0:
		return jsontext.Value(fmt.Sprintf(`[%s,%s]`, randomSetting(rng, forged, depth-1), randomSetting(rng, forged, depth-1)))
	case n == 4 && forged != "":
		return quoted(forged)
	case n == 5:
		return jsontext.Value(one(rng, "1.50", "-0", "12345678901234567890", "null", "true"))
	case n == 6:
		return quoted("${env:TOKEN}")
	case n == 7:
		return quoted("")
	}
	return quoted("https://hush.example.com")
}
