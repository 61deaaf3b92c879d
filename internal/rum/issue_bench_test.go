package rum_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/core/rumerror"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

// BenchmarkNewKinds stores 200 errors of new kinds, as of one request, in an application with few and with many issues.
func BenchmarkNewKinds(b *testing.B) {
	const application, kinds = "shop", 200
	began := time.Date(2020, 11, 20, 10, 0, 0, 0, time.UTC)
	for _, issues := range []int{100, 100_000} {
		b.Run(fmt.Sprint(issues, " issues"), func(b *testing.B) {
			d, made := apitest.Start(b).DB, 0
			store := func(n int, at time.Time) {
				err := d.WriteOf(context.Background(), apitest.AccountA, func(tx *db.Tx) error {
					for range n {
						made++
						if err := newKind(tx, apitest.AccountA, application, made, at); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			at := began
			next := func() time.Time { at = at.Add(2 * time.Hour); return at } // each request finds no issue of its own hour
			for made < issues {
				store(min(kinds, issues-made), next())
			}
			for b.Loop() {
				store(kinds, next())
			}
		})
	}
}

// newKind stores an error of a new kind as the intake does: it looks for its issue, counts the new ones, and adds another.
func newKind(tx *db.Tx, account int64, application string, n int, at time.Time) error {
	message := fmt.Sprint("junk ", n)
	f := rumerror.Fingerprint{Key: fmt.Sprintf("%032x", n), Algorithm: "1", Text: rumerror.TextKey(application, "web", "Error", message)}
	if _, found, err := rum.IssueOf(tx, account, application, f); err != nil || found {
		return fmt.Errorf("found %t, %w", found, err)
	}
	if _, err := rum.CountNew(tx, account, application, at.Add(-time.Hour)); err != nil {
		return err
	}
	i := rum.Issue{
		IssueID: fmt.Sprintf("issue%017d", n), ApplicationID: application, ApplicationName: "Shop", Service: "web", Status: "for_review",
		ErrorCount: 1, CreatedAt: at.UnixMilli(), UpdatedAt: at.UnixMilli(), Severity: "Warning", Error: rum.Error{Message: message, Type: "Error"},
	}
	if err := i.Insert(tx, account); err != nil {
		return err
	}
	return i.AddFingerprint(tx, account, f)
}
