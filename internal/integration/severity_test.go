package integration_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
)

func TestSeverityMapIsBounded(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, (&integration.Service{Keyring: apitest.Box(t)}).Ops())
	s.Grant(auth.IntegrationsRead)
	body := func(kind, words string) string {
		return `{"integration_name":"a","integration_type":"` + kind + `","settings":{"severity_map":` + words + `}}`
	}
	refused := func(kind, words string, says ...string) apitest.Turn {
		return apitest.Turn{Path: "/integration/create", Body: body(kind, words), Code: "InvalidParameter", Says: append(says, "severity_map")}
	}
	var many []string
	for n := range 101 {
		many = append(many, fmt.Sprintf(`"w%d":"Info"`, n))
	}
	s.Converse(t, []apitest.Turn{
		refused("standard", `{"page":"Info"}`, "for prometheus and grafana", "standard"),
		refused("pagerduty", `{"page":"Info"}`, "pagerduty"),
		refused("webhook_alert", `{"page":"Info"}`, "webhook_alert"),
		refused("prometheus", `{"page":"critical"}`, "Critical, Warning or Info", `"page"`, `"critical"`),
		refused("prometheus", `{"page":"Ok"}`, `"Ok"`),
		refused("prometheus", `{"page":""}`, `"page"`),
		refused("prometheus", `{" ":"Info"}`, "1 to 64 characters"),
		refused("prometheus", `{"`+strings.Repeat("é", 65)+`":"Info"}`, "1 to 64 characters", "65"),
		refused("grafana", `{"Page":"Info","page ":"Critical"}`, `"page" twice`),
		refused("grafana", `{`+strings.Join(many, ",")+`}`, "100"),
		{Path: "/integration/create", Body: body("grafana", `{`+strings.Join(many[:100], ",")+`}`)},
		{Path: "/integration/create", Body: body("standard", `{}`)},
		{Path: "/integration/create", Body: body("prometheus", `{" Tier ONE ":"Critical","`+strings.Repeat("é", 64)+`":"Info"}`), Keep: map[string]string{"id": "integration_id"}},
		{Path: "/integration/info", Body: `{"integration_id":$id}`, Has: `{"settings":{"severity_map":{"tier one":"Critical","` + strings.Repeat("é", 64) + `":"Info"}}}`},
		{Path: "/integration/info", Key: apitest.KeyReader, Body: `{"integration_id":$id}`, Has: `{"settings":{"severity_map":{"tier one":"Critical"}}}`},
		{Path: "/integration/update", Body: `{"integration_id":$id,"description":"x"}`},
		{Path: "/integration/info", Body: `{"integration_id":$id}`, Has: `{"settings":{"severity_map":{"tier one":"Critical"}}}`},
		{Path: "/integration/update", Body: `{"integration_id":$id,"settings":{"severity_map":{"tier one":"Warning"}}}`},
		{Path: "/integration/info", Body: `{"integration_id":$id}`, Has: `{"settings":{"severity_map":{"tier one":"Warning"}}}`},
		{Path: "/integration/update", Key: apitest.KeyReader, Body: `{"integration_id":$id,"settings":{}}`, Code: "AccessDenied"},
		{Path: "/integration/update", Key: apitest.KeyB, Body: `{"integration_id":$id,"settings":{}}`, Code: "ResourceNotFound"},
	})
}

// TestUnknownSeveritiesAreLast: the words that came last are kept, with all their events. Mapped words and words that
// have not come for 30 days are not kept.
func TestUnknownSeveritiesAreLast(t *testing.T) {
	t.Parallel()
	service := &integration.Service{Keyring: apitest.Box(t)}
	s := apitest.Start(t, service.Ops())
	source := integration.Integration{IntegrationID: 5, IntegrationName: "a", IntegrationType: "prometheus"}
	add := func(at time.Time, words map[string]int64) {
		t.Helper()
		s.Write(func(tx *db.Tx) error {
			if err := integration.AddUnknownSeverities(tx, apitest.AccountB, 5, map[string]int64{"other": 1}, at); err != nil {
				return err
			}
			return integration.AddUnknownSeverities(tx, apitest.AccountA, 5, words, at)
		})
	}
	is := func(want ...string) {
		t.Helper()
		var got []string
		s.Read(func(tx *db.Tx) error {
			words, err := source.UnknownSeverities(tx, apitest.AccountA)
			for _, u := range words {
				got = append(got, fmt.Sprintf("%s %d", u.Word, u.Events))
			}
			return err
		})
		if strings.Join(got, ", ") != strings.Join(want, ", ") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	now := apitest.Now
	add(now, map[string]int64{"foo": 2, "bar": 3})
	is("bar 3", "foo 2")
	add(now.Add(time.Second), map[string]int64{"foo": 1})
	is("foo 3", "bar 3")
	source.Settings = &integration.Settings{SeverityMap: map[string]string{"bar": "Info"}}
	is("foo 3")
	flood, want := map[string]int64{}, []string{}
	for n := range 19 {
		flood[fmt.Sprintf("w%02d", n)] = 1
		want = append(want, fmt.Sprintf("w%02d 1", n))
	}
	add(now.Add(2*time.Second), flood)
	is(append(want, "foo 3")...)
	for _, r := range service.Module().Prune {
		s.Write(func(tx *db.Tx) error { _, err := r.Prune(tx, now.Add(30*24*time.Hour+time.Second)); return err })
	}
	is(want...)
}
