package rum_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/db"
	"tocsin/internal/rum"
)

// Replacing some applications by others gives those, one without a token keeps it, and erasing leaves the
// others alone.
func TestReplaceAndEraseApplications(t *testing.T) {
	for seed := range uint64(20) {
		s, box := start(t)
		rng := rand.New(rand.NewPCG(seed, 6))
		made := func(n int) (list []rum.Application) {
			for i := range n {
				a := randomApplication(rng, i)
				a.ClientToken, a.CreatedAt, a.CreatedBy, a.UpdatedAt, a.UpdatedBy = fmt.Sprint("token ", rng.Uint64()), 1+rng.Int64N(9), 1, 1+rng.Int64N(9), 2
				list = append(list, a)
			}
			return list
		}
		first, second := made(2), made(3)
		err := within(s, func(tx *db.Tx) error {
			if err := rum.LoadApplications(tx, box, apitest.AccountA, first); err != nil {
				return err
			}
			if err := rum.ReplaceApplications(tx, box, apitest.AccountA, second); err != nil {
				return err
			}
			got, err := rum.DumpApplications(tx, box, apitest.AccountA, true)
			same(t, seed, second, got, err)
			bare, err := rum.DumpApplications(tx, box, apitest.AccountA, false)
			if err != nil {
				return err
			}
			for i := range bare {
				bare[i].CreatedAt, bare[i].CreatedBy, bare[i].UpdatedAt, bare[i].UpdatedBy = 0, 0, 0, 0
			}
			if err := rum.ReplaceApplications(tx, box, apitest.AccountA, bare); err != nil {
				return err
			}
			got, err = rum.DumpApplications(tx, box, apitest.AccountA, true)
			same(t, seed, second, got, err)
			if err := rum.EraseApplication(tx, apitest.AccountA, "app-001"); err != nil {
				return err
			}
			got, err = rum.DumpApplications(tx, box, apitest.AccountA, true)
			same(t, seed, []rum.Application{second[0], second[2]}, got, err)
			return rum.EraseApplication(tx, apitest.AccountA, "none")
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestTokensAreFoundByTheirHash looks at the column that intake goes by, as it is written, and as it is
// filled in for applications of an older version.
func TestTokensAreFoundByTheirHash(t *testing.T) {
	s, box := start(t)
	bare := app()
	bare.ClientToken = ""
	s.Write(func(tx *db.Tx) error {
		return rum.LoadApplications(tx, box, apitest.AccountA, []rum.Application{web(), bare})
	})
	sum := sha256.Sum256([]byte(token))
	check := func() {
		t.Helper()
		s.Read(func(tx *db.Tx) error {
			found, err := db.All(tx, db.Column[string], `SELECT application_id || ' ' || name_folded FROM rum_application WHERE token_hash = $1`, hex.EncodeToString(sum[:]))
			if want := web().ApplicationID + " " + db.Fold("Web shop"); len(found) != 1 || found[0] != want {
				t.Errorf("%q, want %q", found, want)
			}
			if err != nil {
				return err
			}
			n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM rum_application WHERE token_hash = ''`)
			if n != 1 {
				t.Errorf("%d applications have no hash, want the one without a token", n)
			}
			return err
		})
	}
	check()
	s.Exec(`UPDATE rum_application SET token_hash = '', name_folded = ''`)
	for range 2 {
		s.Write(func(tx *db.Tx) error { return rum.Complete(tx, box) })
		check()
	}
}
