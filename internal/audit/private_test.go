package audit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/audit"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// TestWritesAboutPrivateChannelsAreHidden records one write for each way in which its channel is known, or is not
// known.
func TestWritesAboutPrivateChannelsAreHidden(t *testing.T) {
	s := start(t)
	s.Exec(`INSERT INTO role (account_id, role_id, role_name, permissions) VALUES ($1, 9, 'auditor', '["Audit Read (org)"]')`, apitest.AccountA)
	s.Exec(`INSERT INTO person_role (account_id, person_id, role_id) VALUES ($1, $2, 9)`, apitest.AccountA, apitest.Stranger)
	s.Clock.Add(1e9)
	for _, c := range []struct {
		name   string
		change func(*api.AuditEntry)
		shown  bool
	}{
		{"about no channel", func(e *api.AuditEntry) {}, true},
		{"about a channel that may be read", func(e *api.AuditEntry) { e.Channels = []int64{17} }, true},
		{"about a private one", func(e *api.AuditEntry) { e.Channels = []int64{secret} }, false},
		{"about both", func(e *api.AuditEntry) { e.Channels = []int64{17, secret, secret} }, false},
		{"made a private one", func(e *api.AuditEntry) { e.Touched = []fault.Ref{{Kind: "channel", ID: "4242", Name: "hush"}} }, false},
		{"about a private application", func(e *api.AuditEntry) { e.Touched = []fault.Ref{{Kind: "rum_application", ID: "hush", Name: "hush"}} }, false},
		{"about another application", func(e *api.AuditEntry) { e.Touched = []fault.Ref{{Kind: "rum_application", ID: "web", Name: "hush"}} }, true},
		{"refused about a private one", func(e *api.AuditEntry) { e.Outcome, e.Channels = "BadRequest", []int64{secret} }, false},
		{"refused about another", func(e *api.AuditEntry) { e.Outcome, e.Channels = "BadRequest", []int64{17} }, true},
		{"refused before its channel was known", func(e *api.AuditEntry) { e.Outcome = "InvalidParameter" }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.Write(func(tx *db.Tx) error {
				_, err := audit.Prune(tx, apitest.Now.AddDate(1, 0, 0))
				return err
			})
			e := entry(0)
			e.Body, e.Touched = `{"comment":"hush"}`, []fault.Ref{{Kind: "incident", ID: "1", Name: "hush"}}
			if c.change(&e); e.Outcome != "" {
				e.Touched = nil
			}
			record(t, s, e)
			for key, want := range map[string]bool{apitest.KeyA: true, apitest.KeyNothing: c.shown} {
				var page struct {
					Total int
					Docs  []struct {
						Body      string
						Operation string
						Resources []fault.Ref
					}
				}
				s.Call(key, search, `{`+window+`}`).Into(&page)
				if page.Total != 1 || len(page.Docs) != 1 || page.Docs[0].Operation != e.Operation {
					t.Fatalf("%+v: the write itself must be listed", page)
				}
				d := page.Docs[0]
				if got := d.Body == e.Body && len(d.Resources) == len(e.Touched); got != want || !json.Valid([]byte(d.Body)) {
					t.Errorf("shown: %t, want %t: %+v", got, want, d)
				}
				if !want && (!strings.HasPrefix(d.Body, `{"redacted":"private `) || len(d.Resources) != 0) {
					t.Errorf("%+v", d)
				}
			}
		})
	}
}
