package auth_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
)

func loaded(t testing.TB, s *apitest.Server, records []auth.KeyRecord) ([]auth.KeyRecord, error) {
	t.Helper()
	load := func(tx *db.Tx, account int64, records []auth.KeyRecord) error {
		return auth.LoadKeys(tx, account, records, 1712000000)
	}
	return apitest.Passed(t, s.DB, load, auth.DumpKeys, records)
}

func TestLoadDumpKeys(t *testing.T) {
	const seed = 13
	rnd := rand.New(rand.NewPCG(seed, seed))
	s := apitest.Start(t)
	for round := range 30 {
		records := []auth.KeyRecord{}
		for i := range rnd.Int64N(6) {
			var hash [32]byte
			for j := range hash {
				hash[j] = byte(rnd.Uint32())
			}
			records = append(records, auth.KeyRecord{
				KeyID: i<<60 + 1, Name: strings.Repeat("k", rnd.IntN(129)), PersonID: rnd.Int64N(99), KeyHash: hex.EncodeToString(hash[:]),
				Permissions: []*[]string{nil, {}, {"Audit Manage (org)", "Channels Read (on-call)"}}[rnd.IntN(3)],
				Status:      []string{auth.KeyEnabled, auth.KeyDisabled}[rnd.IntN(2)], ExpiresAt: rnd.Int64N(2) * 4102444800, CreatedAt: 1 + rnd.Int64N(99),
				Wait: []*int64{nil, seconds(0), seconds(30)}[rnd.IntN(3)],
			})
		}
		dumped, err := loaded(t, s, records)
		if err != nil || !reflect.DeepEqual(dumped, records) {
			t.Fatalf("seed %d, round %d: %v: got\n%+v\nwant\n%+v", seed, round, err, dumped, records)
		}
	}
}

// TestLoadSecret: a key that the file has as a secret gets an id, and works.
func TestLoadSecret(t *testing.T) {
	s := apitest.Start(t)
	records := []auth.KeyRecord{{Name: "ci", PersonID: apitest.OwnerA, AppKey: secret32}}
	dumped, err := loaded(t, s, records)
	if err != nil {
		t.Fatal(err)
	}
	got := dumped[0]
	if got.KeyID < 1e12 || got.AppKey != "" || len(got.KeyHash) != 64 || got.Permissions != nil || got.Status != auth.KeyEnabled || got.CreatedAt != 1712000000 {
		t.Errorf("%+v", got)
	}
	s.Write(func(tx *db.Tx) error { return auth.LoadKeys(tx, apitest.AccountA, dumped, 0) })
	if who, err := (keyTest{s}).find(secret32); err != nil || !who.Owner {
		t.Errorf("%+v, %v", who, err)
	}
}

func TestLoadKeysRefuses(t *testing.T) {
	s := apitest.Start(t)
	s.Key(apitest.AccountB, apitest.OwnerB, secret32)
	hash := strings.Repeat("0", 64)
	for _, c := range []struct {
		bad  auth.KeyRecord
		says string
	}{
		{auth.KeyRecord{}, "app_keys[1].app_key: is required"},
		{auth.KeyRecord{AppKey: "short"}, "app_keys[1].app_key: must have 32 to 256 characters, got 5"},
		{auth.KeyRecord{AppKey: strings.Repeat(" ", 32)}, "app_keys[1].app_key: must hold no white space"},
		{auth.KeyRecord{AppKey: secret32, KeyHash: hash}, "app_keys[1].key_hash: must be absent when app_key is set"},
		{auth.KeyRecord{KeyHash: strings.Repeat("A", 64)}, "app_keys[1].key_hash: must be 64 lower-case"},
		{auth.KeyRecord{KeyHash: hash[1:]}, "app_keys[1].key_hash: must be 64 lower-case"},
		{auth.KeyRecord{KeyHash: hash, Wait: seconds(31)}, "app_keys[1].wait: must be from 0 to 30 seconds, got 31"},
		{auth.KeyRecord{KeyHash: hash, KeyID: -1}, "app_keys[1].key_id: must be at least 1, got -1"},
		{auth.KeyRecord{KeyHash: hash, KeyID: 7}, "app_keys[1].key_id: 7 is given twice"},
		{auth.KeyRecord{KeyHash: hash, Name: strings.Repeat("é", 129)}, "app_keys[1].name: must have 0 to 128 characters, got 129"},
		{auth.KeyRecord{KeyHash: hash, Permissions: &[]string{"Channels Read (on-call)", "X"}}, `app_keys[1].permissions[1]: "X" is not a permission`},
		{auth.KeyRecord{KeyHash: hash, Status: "paused"}, `app_keys[1].status: must be one of enabled, disabled, got "paused"`},
		{auth.KeyRecord{KeyHash: hash, ExpiresAt: -1}, "app_keys[1].expires_at: must be at least 0, got -1"},
		{auth.KeyRecord{KeyHash: hash, CreatedAt: -1}, "app_keys[1].created_at: must be at least 0, got -1"},
		{auth.KeyRecord{AppKey: secret32}, "app_keys[1]: is in use already"},
		{auth.KeyRecord{KeyHash: strings.Repeat("1", 64)}, "app_keys[1]: is in use already"},
	} {
		_, err := loaded(t, s, []auth.KeyRecord{{KeyID: 7, KeyHash: strings.Repeat("1", 64)}, c.bad})
		if !strings.Contains(fmt.Sprint(err), c.says) || strings.Contains(fmt.Sprint(err), secret32) {
			t.Errorf("%v, want %s", err, c.says)
		}
	}
}
