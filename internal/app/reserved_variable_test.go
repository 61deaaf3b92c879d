package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/core/lint"
	"tocsin/internal/platform/db"
)

// TestStoredReferenceToServersVariableIsListedAndNotApplied stores a reference as an earlier version did: lint lists it, and
// a file with it is neither applied nor imported.
func TestStoredReferenceToServersVariableIsListedAndNotApplied(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, url, key, _ := start(t)
	if status, reply := post(t, url, key, "/monit/datasource/create",
		`{"type_ident":"mysql","name":"orders","address":"m:3306","edge_cluster_name":"e","payload":{"mysql":{"password":"p"}}}`); status != 200 {
		t.Fatalf("%d %s", status, reply)
	}
	if err := a.DB.Write(ctx, func(tx *db.Tx) error {
		return tx.Do(`UPDATE datasource SET payload = '{"mysql":{"password":"${env:TOCSIN_SMTP_PASSWORD}"}}' WHERE account_id <> $1`, 0)
	}); err != nil {
		t.Fatal(err)
	}
	found, err := a.Lint(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(found[0].Findings, func(f lint.Finding) bool { return f.Code == lint.ReservedVariable })
	if i < 0 {
		t.Fatalf("not found: %v", found[0].Findings)
	}
	if f := found[0].Findings[i]; f.Object.Name != "orders" ||
		f.Sentence.English() != `payload.mysql.password of datasource "orders" refers to ${env:TOCSIN_SMTP_PASSWORD}, a variable of the server itself` {
		t.Errorf("%+v", f)
	}
	account := found[0].Account.AccountID
	file := export(t, a, account, true)
	file.Datasources[0].Name = "payments"
	refused := func(way string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "datasources[0].payload.mysql.password") || !strings.Contains(err.Error(), "${env:TOCSIN_SMTP_PASSWORD}") {
			t.Errorf("%s: %v", way, err)
		}
	}
	_, err = accountfile.Apply(ctx, a.DB, a.Keyring, file, time.Now(), accountfile.Options{})
	refused("apply", err)
	refused("import", accountfile.Import(ctx, a.DB, a.Keyring, export(t, a, account, true), time.Now(), true))
}
