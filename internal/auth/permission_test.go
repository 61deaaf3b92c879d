package auth_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/auth"
)

// TestNamesOfSpecification: clients compare the names, and roles and keys store them. So they are
// spelt out here, exactly as the specification writes them in section 5.
func TestNamesOfSpecification(t *testing.T) {
	for p, name := range map[auth.Permission]string{
		auth.SchedulesRead:     "Schedules Read (on-call)",
		auth.SchedulesManage:   "Schedules Manage (on-call)",
		auth.ChannelsRead:      "Channels Read (on-call)",
		auth.DatasourcesManage: "Datasources Manage (monit)",
		auth.DatasourcesRead:   "Datasources Read (monit)",
		auth.IntegrationsRead:  "Integrations Read (on-call)",
	} {
		if p.String() != name {
			t.Errorf("%q, want %q", p, name)
		}
	}
}

func TestEveryPermission(t *testing.T) {
	want := []string{
		"Incidents Read (on-call)", "Incidents Manage (on-call)", "Channels Read (on-call)", "Channels Manage (on-call)",
		"Integrations Read (on-call)", "Integrations Manage (on-call)", "Schedules Read (on-call)", "Schedules Manage (on-call)",
		"Calendars Read (on-call)", "Calendars Manage (on-call)", "Templates Read (on-call)", "Templates Manage (on-call)",
		"Datasources Read (monit)", "Datasources Manage (monit)", "Alerting Rules Read (monit)", "Alerting Rules Manage (monit)",
		"Applications Read (rum)", "Applications Manage (rum)", "Members Read (org)", "Members Manage (org)",
		"Teams Read (org)", "Teams Manage (org)", "Roles Read (org)", "Roles Manage (org)", "Audit Read (org)", "Audit Manage (org)",
		"Custom Fields Read (on-call)", "Custom Fields Manage (on-call)",
		"Status Pages Read (on-call)", "Status Pages Manage (on-call)", "Status Pages Events Read (on-call)", "Status Pages Events Manage (on-call)", "Alerting Engines Read (monit)", "Alerting Engines Manage (monit)",
	}
	if got := auth.Names(auth.All); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for i, name := range want {
		p, err := auth.Parse(name)
		if err != nil || p != auth.Permission(i) || p.String() != name {
			t.Errorf("%s: %d, %v", name, p, err)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	for _, name := range []string{"", "Schedules", "Schedules Read", "schedules read (on-call)", "Schedules Read (monit)", "Schedules Read (on-call) ", "Schedules Write (on-call)", " Manage (on-call)"} {
		_, err := auth.Parse(name)
		if err == nil || !strings.Contains(err.Error(), "Audit Manage (org)") {
			t.Errorf("%q: %v", name, err)
		}
		if s, err := auth.SetOf([]string{"Teams Read (org)", name}); err == nil || s != 0 {
			t.Errorf("%q: a set of %q, %v", name, auth.Names(s), err)
		}
	}
}

// TestClosedSets: Manage adds Read of the same resource, and closing adds nothing else.
func TestClosedSets(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		given := auth.Permissions(r.Uint64()) & auth.All
		if r.IntN(2) == 0 {
			given &= auth.Permissions(r.Uint64())
		}
		closed := given.Closed()
		for p := range auth.Permission(len(auth.Names(auth.All))) {
			read := strings.Contains(p.String(), " Read ")
			want := given.Has(p) || read && given.Has(p+1)
			if closed.Has(p) != want {
				t.Fatalf("seed %d: %q closed holds %s: %t", seed, auth.Names(given), p, closed.Has(p))
			}
		}
		if closed.Closed() != closed || closed&^auth.All != 0 {
			t.Fatalf("seed %d: %q closed twice is %q", seed, auth.Names(closed), auth.Names(closed.Closed()))
		}
		if again, err := auth.SetOf(auth.Names(given)); err != nil || again != given {
			t.Fatalf("seed %d: %q comes back as %q, %v", seed, auth.Names(given), auth.Names(again), err)
		}
	}
	if auth.All.Closed() != auth.All || auth.Permissions(0).Closed() != 0 {
		t.Error("closing changed the full or the empty set")
	}
}

func TestMayAny(t *testing.T) {
	who := auth.Principal{}
	if !who.MayAny(nil) || who.MayAny([]auth.Permission{auth.IncidentsRead}) || who.May(auth.IncidentsRead) {
		t.Error("without permissions")
	}
	set, err := auth.SetOf([]string{"Teams Manage (org)"})
	if err != nil {
		t.Fatal(err)
	}
	who.Permissions = set.Closed()
	if !who.MayAny([]auth.Permission{auth.RolesRead, auth.TeamsRead}) || who.MayAny([]auth.Permission{auth.RolesRead, auth.MembersManage}) || !who.May(auth.TeamsManage) {
		t.Error("with Teams Manage")
	}
}
