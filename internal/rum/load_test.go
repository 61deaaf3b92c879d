package rum_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

// TestDumpIsWhatWasLoaded loads random records and reads them back, with and without secrets.
func TestDumpIsWhatWasLoaded(t *testing.T) {
	t.Parallel()
	s, keyring := start(t)
	undo := errors.New("undo")
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 5))
		applications, issues := []rum.Application{}, []rum.Issue{}
		for i := range rng.IntN(6) {
			applications = append(applications, randomApplication(rng, i))
			issues = append(issues, randomIssue(rng, i))
		}
		err := within(s, func(tx *db.Tx) error {
			if err := rum.LoadApplications(tx, keyring, apitest.AccountA, applications); err != nil {
				return err
			}
			if err := rum.LoadIssues(tx, apitest.AccountA, issues); err != nil {
				return err
			}
			got, err := rum.DumpApplications(tx, keyring, apitest.AccountA, true)
			same(t, seed, applications, got, err)
			got, err = rum.DumpApplications(tx, keyring, apitest.AccountA, false)
			for i := range applications {
				applications[i].ClientToken = ""
			}
			same(t, seed, applications, got, err)
			gotIssues, err := rum.DumpIssues(tx, apitest.AccountA)
			same(t, seed, issues, gotIssues, err)
			others, err := rum.DumpIssues(tx, apitest.AccountB)
			same(t, seed, []rum.Issue{}, others, err)
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

func yes(rng *rand.Rand) bool { return rng.IntN(2) == 0 }

func text(rng *rand.Rand) string {
	return one(rng, "", "商店", `"a" & <b>`, strings.Repeat("é", 40))
}

func ms(rng *rand.Rand) int64 { return rng.Int64N(3) * 1_770_883_154_944 }

func randomApplication(rng *rand.Rand, i int) rum.Application {
	tracing := rum.Tracing{Enabled: yes(rng), OpenType: one(rng, "", "popup", "tab"), Endpoint: one(rng, "", "http://t/${trace_id}", "https://t")}
	a := rum.Application{AccountID: apitest.AccountA, ApplicationID: fmt.Sprintf("app-%03d", i), ApplicationName: one(rng, "n", "商店", strings.Repeat("é", 40)),
		Type:        one(rng, "browser", "ios", "android", "react-native", "flutter", "kotlin-multiplatform", "roku", "unity"),
		ClientToken: one(rng, "", token, "秘密"), TeamID: rng.Int64N(3), IsPrivate: yes(rng), NoIP: yes(rng), NoGeo: yes(rng),
		Alerting: rum.Alerting{Enabled: yes(rng), ChannelIDs: []int64{}, IntegrationID: rng.Int64N(3)}, Tracing: tracing, TracingAlias: tracing,
		Status: one(rng, "enabled", "disabled", "deleted"), CreatedBy: rng.Int64N(3), UpdatedBy: rng.Int64N(3), CreatedAt: ms(rng), UpdatedAt: ms(rng)}
	for range rng.IntN(3) {
		a.AllowedOrigins = append(a.AllowedOrigins, one(rng, "https://shop.example.com", "http://*.example.com:8080"))
	}
	for range rng.IntN(3) {
		a.Alerting.ChannelIDs = append(a.Alerting.ChannelIDs, rng.Int64())
	}
	return a
}

func randomIssue(rng *rand.Rand, i int) rum.Issue {
	seen := ms(rng)
	r := rum.Issue{TeamID: rng.Int64N(3), IssueID: fmt.Sprintf("issue-%03d", i), ApplicationID: "app", ApplicationName: text(rng), Service: text(rng),
		Status: one(rng, "for_review", "reviewed", "ignored", "resolved"), ErrorCount: rng.Int64N(9), SessionCount: rng.Int64N(9), IsCrash: yes(rng), Age: rng.Int64N(9),
		ResolvedAt: ms(rng), ResolvedBy: rng.Int64N(3), CreatedAt: ms(rng), UpdatedAt: ms(rng),
		FirstSeen: rum.Seen{Timestamp: seen, Version: text(rng)}, LastSeen: rum.Seen{Timestamp: seen + rng.Int64N(1000), Version: text(rng)},
		Error:          rum.Error{Message: text(rng), Type: text(rng)},
		SuspectedCause: rum.Cause{Source: one(rng, "", "auto", "user"), Value: one(rng, "", "unknown", "network.error"), Reason: text(rng), PersonID: rng.Int64N(3)},
		Versions:       []string{}, Severity: one(rng, "", "Info", "Critical")}
	for range rng.IntN(3) {
		r.Versions = append(r.Versions, text(rng))
	}
	if yes(rng) {
		r.Regression = &rum.Regression{RegressedAt: ms(rng), RegressedAtVersion: text(rng), ResolvedAt: ms(rng)}
	}
	return r
}

func TestTracingUnderEitherName(t *testing.T) {
	t.Parallel()
	s, keyring := start(t)
	old, both := web(), web()
	old.ApplicationID = "old"
	old.Tracing, old.TracingAlias = rum.Tracing{}, old.Tracing
	both.ApplicationID, both.TracingAlias = "both", both.Tracing
	s.Write(func(tx *db.Tx) error {
		if err := rum.LoadApplications(tx, keyring, apitest.AccountA, []rum.Application{old, both, web()}); err != nil {
			return err
		}
		all, err := rum.DumpApplications(tx, keyring, apitest.AccountA, false)
		for _, a := range all {
			if a.Tracing != web().Tracing || a.TracingAlias != web().Tracing {
				t.Errorf("%s: %+v and %+v", a.ApplicationID, a.Tracing, a.TracingAlias)
			}
		}
		return err
	})
}

func TestAgeIsComputedIfAbsent(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	for _, c := range []struct{ first, last, age, want int64 }{
		{1770883154944, 1775961839090, 0, 5078684},
		{1770883154944, 1770883154944, 0, 0},
		{1770883154944, 1770883155943, 0, 0},
		{1770883154944, 1770883155944, 0, 1},
		{1770883154944, 1775961839090, 7, 7},
		{0, 0, 0, 0},
	} {
		r := scriptError()
		r.FirstSeen.Timestamp = c.first
		r.LastSeen.Timestamp = c.last
		r.Age = c.age
		s.Write(func(tx *db.Tx) error {
			if _, err := tx.Exec(`DELETE FROM rum_issue`); err != nil {
				return err
			}
			if err := rum.LoadIssues(tx, apitest.AccountA, []rum.Issue{r}); err != nil {
				return err
			}
			all, err := rum.DumpIssues(tx, apitest.AccountA)
			if len(all) != 1 || all[0].Age != c.want || all[0].Status != "for_review" {
				t.Errorf("%+v: %+v", c, all)
			}
			return err
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	s, keyring := start(t)
	for says, spoil := range map[string]func(a *rum.Application){
		"rum_applications[1].application_id: eWbr4xk3ZRnLabRa6unqwD is given twice":             func(a *rum.Application) { a.ApplicationID = web().ApplicationID },
		"rum_applications[1].application_id: must have 1 to 128 characters, got 0":              func(a *rum.Application) { a.ApplicationID = "" },
		"rum_applications[1].account_id: must be 2451002751131, the account of the file, got 9": func(a *rum.Application) { a.AccountID = 9 },
		"rum_applications[1].application_name: must have 1 to 40 characters, got 41":            func(a *rum.Application) { a.ApplicationName = strings.Repeat("é", 41) },
		"rum_applications[1].type: must be one of browser, ios, android, react-native, flutter, kotlin-multiplatform, roku, unity, got \"web\"": func(a *rum.Application) {
			a.Type = "web"
		},
		`rum_applications[1].status: must be one of enabled, disabled, deleted, got "on"`:          func(a *rum.Application) { a.Status = "on" },
		`rum_applications[1].tracing.endpoint: must begin with http:// or https://, got "ftp://x"`: func(a *rum.Application) { a.Tracing.Endpoint = "ftp://x" },
		"rum_applications[1].the service: must be the same as tracing when both are given":         func(a *rum.Application) { a.Tracing.OpenType, a.TracingAlias.OpenType = "tab", "popup" },
		`rum_applications[1].tracing.open_type: must be one of "", popup, tab, got "modal"`:        func(a *rum.Application) { a.Tracing.OpenType = "modal" },
		"rum_applications[1].created_at: must be at least 0, got -1":                               func(a *rum.Application) { a.CreatedAt = -1 },
	} {
		a := app()
		spoil(&a)
		err := within(s, func(tx *db.Tx) error {
			return rum.LoadApplications(tx, keyring, apitest.AccountA, []rum.Application{web(), a})
		})
		if err == nil || err.Error() != says {
			t.Errorf("%v, want %q", err, says)
		}
	}
	for says, spoil := range map[string]func(i *rum.Issue){
		"rum_issues[1].issue_id: NHEacQHi2DhXqobr9qPQz9 is given twice":                            func(i *rum.Issue) { i.IssueID = scriptError().IssueID },
		"rum_issues[1].issue_id: must have 1 to 128 characters, got 0":                             func(i *rum.Issue) { i.IssueID = "" },
		"rum_issues[1].application_id: must have 1 to 128 characters, got 0":                       func(i *rum.Issue) { i.ApplicationID = "" },
		`rum_issues[1].status: must be one of for_review, reviewed, ignored, resolved, got "open"`: func(i *rum.Issue) { i.Status = "open" },
		"rum_issues[1].error_count: must be at least 0, got -1":                                    func(i *rum.Issue) { i.ErrorCount = -1 },
		"rum_issues[1].last_seen.timestamp: must be at least 1770883154944, got 5":                 func(i *rum.Issue) { i.LastSeen.Timestamp = 5 },
		`rum_issues[1].suspected_cause.source: must be one of "", auto, user, got "me"`:            func(i *rum.Issue) { i.SuspectedCause.Source = "me" },
	} {
		r := scriptError()
		r.IssueID = "second"
		spoil(&r)
		err := within(s, func(tx *db.Tx) error { return rum.LoadIssues(tx, apitest.AccountA, []rum.Issue{scriptError(), r}) })
		if err == nil || err.Error() != says {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
