package accountfile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/accountfile"
	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

const bluewhale = 2451002751131

func (h installation) apply(t testing.TB, f *accountfile.File, o accountfile.Options) (plan []string, p accountfile.Plan) {
	t.Helper()
	p, err := accountfile.Apply(context.Background(), h.db, h.keyring, f, apitest.Now, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Changes {
		line := c.Verb + " " + c.Object.Kind + " " + c.Object.ID
		for _, m := range c.Members {
			line += fmt.Sprintf(" %s: %s -> %s", m.Path, m.Old, m.New)
		}
		plan = append(plan, line)
	}
	return plan, p
}

func TestApply(t *testing.T) {
	h := newInstallation(t)
	plan, _ := h.apply(t, read(t, byHand(t)), accountfile.Options{DryRun: true})
	if len(plan) < 20 || !strings.HasPrefix(plan[0], "create account") {
		t.Errorf("%q", plan)
	}
	h.apply(t, read(t, byHand(t)), accountfile.Options{})
	before := h.export(t, bluewhale, true)

	// the same file again, with and without its secrets
	for _, f := range []*accountfile.File{read(t, byHand(t)), read(t, h.export(t, bluewhale, false)), read(t, before)} {
		if plan, p := h.apply(t, f, accountfile.Options{Prune: true}); !p.Empty() {
			t.Errorf("%q", plan)
		}
	}
	differ(t, "applied again", h.export(t, bluewhale, true), before)

	// a changed member, a secret, one object more and one less
	f := read(t, h.export(t, bluewhale, false))
	f.Teams[0].TeamName = "SRE 北京"
	f.Channels[0].Description = ""
	f.Datasources[0].Name = "Prometheus"
	f.DropRules = nil
	f.SilenceRules[0].RuleID = "69db2f72a0fe7db6448b1506"
	kept := f.SilenceRules[0]
	want := []string{
		`change team 4291079133131 team_name: "SRE 上海" -> "SRE 北京"`,
		`change channel 1001 description: "支付 — cards, wallets, payouts" -> ""`,
		`create silence_rule ` + kept.RuleID,
		`change datasource 10 name: "Prometheus 生产" -> "Prometheus"`,
	}
	for _, dry := range []bool{true, false} {
		plan, p := h.apply(t, f, accountfile.Options{DryRun: dry})
		if !slices.Equal(plan, want) {
			t.Errorf("dry %v: %q\nwant %q", dry, plan, want)
		}
		if len(p.Kept) != 2 || p.Kept[0].Kind != "drop_rule" || p.Kept[1].Kind != "silence_rule" {
			t.Errorf("kept %+v", p.Kept)
		}
		var b strings.Builder
		p.WriteTo(&b)
		if !strings.Contains(b.String(), "1 to create, 3 to change, 0 to delete") || !strings.Contains(b.String(), "--prune deletes it") {
			t.Errorf("%s", b.String())
		}
		if dry {
			differ(t, "after a dry run", h.export(t, bluewhale, true), before)
		}
	}
	if plan, p := h.apply(t, f, accountfile.Options{}); !p.Empty() {
		t.Errorf("applied twice: %q", plan)
	}
	if after := h.export(t, bluewhale, true); strings.Count(after, "password") != strings.Count(before, "password") {
		t.Error("a secret that the file does not show was deleted")
	}
	plan, _ = h.apply(t, f, accountfile.Options{Prune: true})
	if len(plan) != 2 || !strings.HasPrefix(plan[0], "delete silence_rule") || !strings.HasPrefix(plan[1], "delete drop_rule") {
		t.Errorf("pruned %q", plan)
	}
}

// TestApplyRejectsStalePlan changes the account between the plan and its application.
func TestApplyRejectsStalePlan(t *testing.T) {
	h := newInstallation(t)
	h.apply(t, read(t, byHand(t)), accountfile.Options{})
	f := read(t, h.export(t, bluewhale, false))
	f.Teams[0].TeamName = "SRE 北京"
	_, shown := h.apply(t, f, accountfile.Options{DryRun: true})

	other := read(t, h.export(t, bluewhale, false))
	other.Channels[0].ChannelName = "Renamed meanwhile"
	h.apply(t, other, accountfile.Options{})
	before := h.export(t, bluewhale, true)

	_, err := accountfile.Apply(context.Background(), h.db, h.keyring, f, apitest.Now, accountfile.Options{Shown: &shown})
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("the account changed, and applying answers %v", err)
	}
	differ(t, "after a plan that no longer holds", h.export(t, bluewhale, true), before)

	_, shown = h.apply(t, f, accountfile.Options{DryRun: true})
	if plan, _ := h.apply(t, f, accountfile.Options{Shown: &shown}); len(plan) != 2 {
		t.Errorf("the new plan applies %q", plan)
	}
}

func TestApplyRefuses(t *testing.T) {
	h := newInstallation(t)
	h.apply(t, read(t, byHand(t)), accountfile.Options{})
	before := h.export(t, bluewhale, true)
	for says, spoil := range map[string]func(*accountfile.File){
		"cannot prune team":        func(f *accountfile.File) { f.Teams = nil },
		"teams[1]":                 func(f *accountfile.File) { f.Teams[1].TeamID = f.Teams[0].TeamID },
		"channels[0].channel_name": func(f *accountfile.File) { f.Channels[0].ChannelName = "" },
		"account.owner_id":         func(f *accountfile.File) { f.Account.OwnerID = 5 },
	} {
		f := read(t, h.export(t, bluewhale, false))
		spoil(f)
		_, err := accountfile.Apply(context.Background(), h.db, h.keyring, f, apitest.Now, accountfile.Options{Prune: true})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
	differ(t, "after refusals", h.export(t, bluewhale, true), before)
}

// TestApplyIsRecorded: the audit log has the changed objects, and no secret.
func TestApplyIsRecorded(t *testing.T) {
	h := newInstallation(t)
	h.apply(t, read(t, byHand(t)), accountfile.Options{})
	f := read(t, byHand(t))
	f.Teams[0].TeamName = "x"
	h.apply(t, f, accountfile.Options{})
	h.apply(t, f, accountfile.Options{})
	err := h.db.Read(context.Background(), func(tx *db.Tx) error {
		bodies, err := db.All(tx, db.Column[string], `SELECT body FROM audit_log ORDER BY created_at, audit_id`)
		touched, _, err2 := db.One(tx, db.Column[int64], `SELECT count(*) FROM audit_touched WHERE kind = 'team' AND object_id = '4291079133131'`)
		if len(bodies) != 2 || !slices.Contains(bodies, `{"change":1}`) || touched != 2 || err2 != nil {
			t.Errorf("%q %d %v", bodies, touched, err2)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestPlanNamesChangesOfOncallNow applies a file with another zone, and one without a schedule. The plan names each schedule in
// which other persons are on call now.
func TestPlanNamesChangesOfOncallNow(t *testing.T) {
	t.Parallel()
	h := newInstallation(t)
	const file = `{"format":"tocsin.account/1","account":{"account_id":7,"account_name":"A","time_zone":"%s","owner_id":1},
		"persons":[{"person_id":1,"person_name":"Olga"},{"person_id":2,"person_name":"Rita"}],"schedules":[%s]}`
	const schedule = `{"schedule_id":%d,"schedule_name":"%s","layers":[{"layer_name":"L","layer_start":1770000000,"rotation_unit":"week","rotation_value":1,
		"restrict_mode":1,"restrict_start":43200,"restrict_end":46800,"groups":[{"group_name":"G","members":[{"role_id":0,"person_ids":[%d]}]}]}]}`
	nights, days := fmt.Sprintf(schedule, 11, "Nights", 1), fmt.Sprintf(schedule, 12, "Days", 2)
	apply := func(zone string, prune bool, schedules ...string) string {
		f := read(t, fmt.Sprintf(file, zone, strings.Join(schedules, ",")))
		_, shown := h.apply(t, f, accountfile.Options{Prune: prune, DryRun: true})
		var b strings.Builder
		if _, err := shown.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		h.apply(t, f, accountfile.Options{Prune: prune, Shown: &shown})
		return b.String()
	}
	for _, step := range []struct {
		plan string
		want []string
	}{
		{apply("Asia/Shanghai", false, nights, days), nil},
		{apply("Asia/Shanghai", false, nights, strings.Replace(days, "[2]", "[1]", 1)), []string{"schedule 12 (Days) changes from Rita to Olga"}},
		{apply("UTC", false, nights, days), []string{"schedule 11 (Nights) changes from Olga to no one", "schedule 12 (Days) changes from Olga to no one"}},
		{apply("Asia/Shanghai", false, nights, days), []string{"schedule 11 (Nights) changes from no one to Olga", "schedule 12 (Days) changes from no one to Rita"}},
		{apply("Asia/Shanghai", true, days), []string{"schedule 11 (Nights) changes from Olga to no one"}},
	} {
		for _, want := range step.want {
			if !strings.Contains(step.plan, "warn    who is on call now in "+want+"\n") {
				t.Errorf("the plan lacks %s:\n%s", want, step.plan)
			}
		}
		if n := strings.Count(step.plan, "warn "); n != len(step.want) {
			t.Errorf("%d warnings, want %d:\n%s", n, len(step.want), step.plan)
		}
	}
}
