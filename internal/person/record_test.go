package person_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

var errRollback = errors.New("rolled back")

// within runs fn in a transaction and rolls it back.
func within(t testing.TB, d *db.DB, fn func(*db.Tx) error) error {
	t.Helper()
	err := d.Write(context.Background(), func(tx *db.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return errRollback
	})
	if errors.Is(err, errRollback) {
		return nil
	}
	return err
}

var acme = person.Account{AccountID: 7, AccountName: "Acme", TimeZone: "Asia/Shanghai", OwnerID: 9}

func random(rnd *rand.Rand, id int64) person.Record {
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	r := person.Record{Item: person.Item{
		AccountID: acme.AccountID, PersonID: id, PersonName: pick("", "Ada", "王小明", "Zoë 🚒"), Avatar: pick("", "/image/a.png"), Locale: pick("", "zh-CN"),
		TimeZone: pick("", "Europe/Berlin"), Email: pick("", "a@example.com"), PhoneVerified: rnd.IntN(2) == 0, EmailVerified: rnd.IntN(2) == 0,
		As: pick("", "member", "account", "responder"), Status: pick("", "enabled", "active", "pending", "deleted"),
	}, Phone: pick("", "+49 30 1")}
	for role := range int64(4) {
		if rnd.IntN(3) == 0 {
			r.RoleIDs = append(r.RoleIDs, role+1)
		}
	}
	return r
}

func TestLoadDump(t *testing.T) {
	const seed = 3
	rnd := rand.New(rand.NewPCG(seed, seed))
	d := apitest.OpenDB(t)
	for round := range 50 {
		var records []person.Record
		for i := range rnd.Int64N(10) {
			records = append(records, random(rnd, (i+1)<<(rnd.Int64N(2)*59)))
		}
		slices.SortFunc(records, func(a, b person.Record) int { return cmp.Compare(a.PersonID, b.PersonID) })
		records = slices.CompactFunc(records, func(a, b person.Record) bool { return a.PersonID == b.PersonID })
		shuffled := slices.Clone(records)
		rnd.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		var dumped []person.Record
		var account person.Account
		err := within(t, d, func(tx *db.Tx) (err error) {
			if err := errors.Join(person.LoadAccount(tx, acme, 1), person.Load(tx, acme.AccountID, shuffled)); err != nil {
				return err
			}
			account, _, err = person.DumpAccount(tx, acme.AccountID)
			if err != nil {
				return err
			}
			dumped, err = person.Dump(tx, acme.AccountID)
			return err
		})
		if err != nil || account != acme || len(dumped) != len(records) || len(records) > 0 && !reflect.DeepEqual(dumped, records) {
			t.Fatalf("seed %d, round %d: %v: got\n%+v\nwant\n%+v", seed, round, err, dumped, records)
		}
	}
}

func TestLoadRejectsInvalidRecords(t *testing.T) {
	d := apitest.OpenDB(t)
	for _, c := range []struct {
		change func(r *person.Record)
		says   string
	}{
		{func(r *person.Record) { r.AccountID = 8 }, "persons[1].account_id: must be 7, the account of the file, got 8"},
		{func(r *person.Record) { r.PersonID = 0 }, "persons[1].person_id: must be at least 1, got 0"},
		{func(r *person.Record) { r.PersonID = -1 }, "persons[1].person_id: must be at least 1, got -1"},
		{func(r *person.Record) { r.PersonID = 1 }, "persons[1].person_id: 1 is given twice"},
		{func(r *person.Record) { r.PersonName = strings.Repeat("é", 256) }, "persons[1].person_name: must have 0 to 255 characters, got 256"},
		{func(r *person.Record) { r.Avatar = strings.Repeat("a", 2049) }, "persons[1].avatar"},
		{func(r *person.Record) { r.Locale = strings.Repeat("a", 256) }, "persons[1].locale"},
		{func(r *person.Record) { r.Email = strings.Repeat("a", 2049) }, "persons[1].email"},
		{func(r *person.Record) { r.Phone = strings.Repeat("1", 256) }, "persons[1].phone"},
		{func(r *person.Record) { r.TimeZone = "Mars/Base" }, `persons[1].time_zone: must be the IANA name of a time zone such as Asia/Shanghai, got "Mars/Base"`},
		{func(r *person.Record) { r.TimeZone = "Local" }, "persons[1].time_zone"},
		{func(r *person.Record) { r.As = "owner" }, `persons[1].as: must be one of member, account, responder, got "owner"`},
		{func(r *person.Record) { r.Status = "gone" }, `persons[1].status: must be one of enabled, active, pending, deleted, got "gone"`},
		{func(r *person.Record) { r.RoleIDs = []int64{1, 2, 1} }, "persons[1].role_ids[2]: 1 is given twice"},
	} {
		bad := person.Record{Item: person.Item{PersonID: 2}}
		c.change(&bad)
		err := within(t, d, func(tx *db.Tx) error {
			if err := person.LoadAccount(tx, acme, 1); err != nil {
				t.Fatal(err)
			}
			return person.Load(tx, acme.AccountID, []person.Record{{Item: person.Item{PersonID: 1}}, bad})
		})
		if err == nil || !strings.Contains(err.Error(), c.says) || fault.KindOf(err) != fault.InvalidParameter {
			t.Errorf("%v, want %s", err, c.says)
		}
	}
}

func TestLoadAccountRejectsInvalidAccounts(t *testing.T) {
	d := apitest.OpenDB(t)
	for _, c := range []struct {
		change func(a *person.Account)
		says   string
	}{
		{func(a *person.Account) { a.AccountID = 0 }, "account.account_id: must be at least 1, got 0"},
		{func(a *person.Account) { a.OwnerID = -3 }, "account.owner_id: must be at least 1, got -3"},
		{func(a *person.Account) { a.AccountName = "" }, "account.account_name: must have 1 to 255 characters, got 0"},
		{func(a *person.Account) { a.AccountName = strings.Repeat("王", 256) }, "account.account_name: must have 1 to 255 characters, got 256"},
		{func(a *person.Account) { a.TimeZone = "" }, "account.time_zone: must have 1 to 255 characters, got 0"},
		{func(a *person.Account) { a.TimeZone = "UTC+8" }, "account.time_zone: must be the IANA name"},
	} {
		bad := acme
		c.change(&bad)
		err := within(t, d, func(tx *db.Tx) error { return person.LoadAccount(tx, bad, 1) })
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %s", err, c.says)
		}
	}
	err := within(t, d, func(tx *db.Tx) error {
		return errors.Join(person.LoadAccount(tx, acme, 1), person.LoadAccount(tx, acme, 1))
	})
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(fmt.Sprint(err), "account 7 exists") {
		t.Errorf("%v", err)
	}
}
