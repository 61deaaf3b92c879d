package configstore_test

import (
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Two processes find the same account behind. What the slower one has derived is not stored over what the faster one has,
// of the same revision or of a later one.
func TestReaderStoresRevisionOnce(t *testing.T) {
	s := apitest.Start(t)
	second := s.Again()
	for name, reader := range map[string]configstore.RevisionReader{
		"shift notices": configstore.ShiftNotices, "silence warnings": configstore.SilenceWarnings, "muted alerts": configstore.MutedAlerts,
	} {
		s.Write(func(tx *db.Tx) error { return configstore.BumpRevision(tx, apitest.AccountA) })
		found := func(d *db.DB) (of configstore.AccountRevision) {
			err := d.Read(t.Context(), func(tx *db.Tx) error {
				all, err := reader.Behind(tx)
				for _, a := range all {
					if a.ID == apitest.AccountA {
						of = a
					}
				}
				return err
			})
			if err != nil || of.ID == 0 {
				t.Fatalf("%s: the account is not behind: %v", name, err)
			}
			return of
		}
		stores := func(d *db.DB, of configstore.AccountRevision) (awaits bool) {
			if err := d.Write(t.Context(), func(tx *db.Tx) (err error) {
				awaits, err = reader.Awaits(tx, of)
				if err != nil || !awaits {
					return err
				}
				return reader.Reached(tx, of)
			}); err != nil {
				t.Fatal(err)
			}
			return awaits
		}
		slow, fast := found(second), found(s.DB)
		if !stores(s.DB, fast) || stores(second, slow) {
			t.Errorf("%s: a revision is stored twice or never", name)
		}
		s.Write(func(tx *db.Tx) error { return configstore.BumpRevision(tx, apitest.AccountA) })
		slow = found(second)
		s.Write(func(tx *db.Tx) error { return configstore.BumpRevision(tx, apitest.AccountA) })
		if !stores(s.DB, found(s.DB)) || stores(second, slow) {
			t.Errorf("%s: an older revision is stored over a later one", name)
		}
	}
}
