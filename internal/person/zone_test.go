package person_test

import (
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// TestZoneOfLaterAccount: the zone of an account that does not exist is not kept until it does.
func TestZoneOfLaterAccount(t *testing.T) {
	d := apitest.OpenDB(t)
	is := func(want string) {
		t.Helper()
		if err := d.Snapshot(t.Context(), func(tx *db.Tx) error {
			zone, err := person.Zone(tx, 1)
			if err == nil && zone.String() != want {
				t.Errorf("%s, want %s", zone, want)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	is("UTC")
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		return person.LoadAccount(tx, person.Account{AccountID: 1, AccountName: "Later", TimeZone: "Asia/Tokyo", OwnerID: 2}, 1)
	}); err != nil {
		t.Fatal(err)
	}
	is("Asia/Tokyo")
}
