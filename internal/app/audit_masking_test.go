package app_test

import (
	"fmt"
	"testing"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/audit"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
)

// TestSecretsOfEarlierEntriesAreHidden stores entries as an earlier version did, with secrets in clear, and runs the job that
// hides them: in pieces, beside what else is written, until a day after the upgrade.
func TestSecretsOfEarlierEntriesAreHidden(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, _, _, _ := start(t)
	at := clock.System.Now().Add(-time.Hour)
	var account int64
	record := func(operation, body string) {
		t.Helper()
		if err := a.DB.Write(ctx, func(tx *db.Tx) (err error) {
			account, _, err = db.One(tx, db.Column[int64], `SELECT account_id FROM account`)
			if err != nil {
				return err
			}
			at = at.Add(time.Millisecond)
			return audit.Record(tx, api.AuditEntry{At: at, AccountID: account, Operation: operation, Body: body, Write: true})
		}); err != nil {
			t.Fatal(err)
		}
	}
	entries := func(like string) (n int64) {
		t.Helper()
		if err := a.DB.Read(ctx, func(tx *db.Tx) (err error) {
			n, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM audit_log WHERE body LIKE $1`, like)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const secret = "S3cr3tOfOld"
	const copies = 600 // more than a piece
	bodies := map[string]string{
		"preference:write:update":        `{"contacts":{"slack":"https://hooks.slack.com/services/%s"}}`,
		"push_subscription:write:create": `{"endpoint":"https://push.example.com/%[1]s","keys":{"p256dh":"%[1]s","auth":"%[1]s"},"name":"phone"}`,
		"channel:write:update":           `{"channel_name":"%s"}`, // no secret
	}
	for name := range bodies {
		if _, marked := a.Frame.Secrets()[name]; !marked && name != "channel:write:update" {
			t.Fatalf("no request with secrets is recorded as %s: %v", name, a.Frame.Secrets())
		}
	}
	if err := a.DB.Write(ctx, func(tx *db.Tx) error {
		return tx.Do(`INSERT INTO audit_masking (account_id, done_id, ends_at) SELECT account_id, '', 0 FROM account`)
	}); err != nil {
		t.Fatal(err)
	}
	for name, body := range bodies {
		record(name, fmt.Sprintf(body, secret))
	}
	record("preference:write:update", `{"redacted":"too long","size":70000}`)
	if err := a.DB.Write(ctx, func(tx *db.Tx) error {
		for range copies {
			at = at.Add(time.Millisecond)
			if err := audit.Record(tx, api.AuditEntry{At: at, AccountID: account, Operation: "channel:write:update", Body: `{}`, Write: true}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	record("preference:write:update", fmt.Sprintf(bodies["preference:write:update"], secret))

	job := audit.Masking{DB: a.DB, Shapes: a.Frame.Secrets}.Job()
	now := clock.System.Now()
	run := func() (again time.Time) {
		t.Helper()
		again, err := job.Run(ctx, now)
		if err != nil {
			t.Fatal(err)
		}
		return again
	}
	if again := run(); !again.Equal(now) || entries("%"+secret+"%") != 2 {
		t.Errorf("after one piece: again at %v, %d entries hold the secret", again, entries("%"+secret+"%"))
	}
	if again := run(); !again.IsZero() || entries("%"+secret+"%") != 1 || entries(`{"channel_name":"`+secret+`"}`) != 1 {
		t.Errorf("at the end: again at %v, %d entries hold the secret", again, entries("%"+secret+"%"))
	}
	if entries(`{"contacts":{"slack":"https://hooks.slack.com/***"}}`) != 2 || entries(`{"redacted":"too long","size":70000}`) != 1 ||
		entries(`{"endpoint":"https://push.example.com/***","keys":{"p256dh":"***","auth":"***"},"name":"phone"}`) != 1 {
		t.Error("what is no secret was not kept")
	}
	at = now
	record("preference:write:update", fmt.Sprintf(bodies["preference:write:update"], secret)) // by a node that was not upgraded yet
	run()
	if n := entries("%" + secret + "%"); n != 1 {
		t.Errorf("%d entries hold the secret, of a node that was not upgraded yet too", n-1)
	}
	now = now.Add(25 * time.Hour)
	run()
	if err := a.DB.Read(ctx, func(tx *db.Tx) error {
		left, err := db.All(tx, db.Column[int64], `SELECT account_id FROM audit_masking`)
		if len(left) != 0 {
			t.Errorf("after a day it still looks at %v", left)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
