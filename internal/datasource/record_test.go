package datasource_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api/apitest"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

func decodeRecord(t testing.TB, text string) (r datasource.Record) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	return r
}

// random returns a datasource of a random type, in which each member of the block is set or not.
func random(t testing.TB, rnd *rand.Rand, id uint64) datasource.Record {
	types := slices.Sorted(maps.Keys(full))
	typeIdent := types[rnd.IntN(len(types))]
	r := decodeRecord(t, itemJSON(id, typeIdent, full[typeIdent][0]))
	r.Enabled = rnd.IntN(2) == 0
	r.Note = strings.Repeat("注", rnd.IntN(3))
	r.UpdatedAt = rnd.Int64N(1 << 40)
	payload := reflect.ValueOf(r.Payload).Elem()
	for i := range payload.NumField() {
		if block := payload.Field(i); !block.IsNil() {
			thin(block.Elem(), rnd)
		}
	}
	return r
}

// thin unsets members at random.
func thin(v reflect.Value, rnd *rand.Rand) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Struct:
			thin(f, rnd)
		case reflect.Pointer, reflect.Slice, reflect.Map:
			if rnd.IntN(2) == 0 {
				f.SetZero()
			}
		}
	}
}

// TestLoadDump: with secrets, a dump of loaded records equals them; without, the dump loads and dumps as itself.
func TestLoadDump(t *testing.T) {
	const seed = 7
	rnd := rand.New(rand.NewPCG(seed, seed))
	d, keyring := apitest.OpenDB(t), newKeyring(t)
	for round := range 20 {
		var records []datasource.Record
		for i := range 1 + rnd.Uint64N(20) {
			id := 1 + i
			if rnd.IntN(3) == 0 {
				id += 1 << 63
			}
			records = append(records, random(t, rnd, id))
		}
		slices.SortFunc(records, func(a, b datasource.Record) int {
			if a.ID < b.ID {
				return -1
			}
			return 1
		})
		before := encode(t, records)
		shuffled := slices.Clone(records)
		rnd.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if got := encode(t, passed(t, d, keyring, shuffled, true)); got != before {
			t.Fatalf("seed %d, round %d: got\n%s\nwant\n%s", seed, round, got, before)
		}
		if encode(t, records) != before {
			t.Fatalf("seed %d, round %d: loading changed the records", seed, round)
		}
		blank := passed(t, d, keyring, records, false)
		if again := passed(t, d, keyring, blank, true); encode(t, again) != encode(t, blank) {
			t.Fatalf("seed %d, round %d: got\n%s\nwant\n%s", seed, round, encode(t, again), encode(t, blank))
		}
	}
}

func encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var errRollback = errors.New("rolled back")

// passed loads records into an empty database, dumps them and rolls the transaction back.
func passed(t testing.TB, d *db.DB, keyring *secret.Keyring, records []datasource.Record, secrets bool) (dumped []datasource.Record) {
	t.Helper()
	err := d.Write(context.Background(), func(tx *db.Tx) (err error) {
		if _, err := tx.Exec(`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES ($1, 'A', 'UTC', 1, 0)`, apitest.AccountA); err != nil {
			return err
		}
		if err := datasource.Load(tx, keyring, apitest.AccountA, records); err != nil {
			return err
		}
		dumped, err = datasource.Dump(tx, keyring, apitest.AccountA, secrets)
		if err != nil {
			return err
		}
		return errRollback
	})
	if !errors.Is(err, errRollback) {
		t.Fatal(err)
	}
	return dumped
}

func TestLoadRefuses(t *testing.T) {
	good := itemJSON(1, "mysql", `{}`)
	s := start(t)
	for _, c := range []struct{ name, record, says string }{
		{"no id", strings.Replace(good, `"id": 1`, `"id": 0`, 1), "datasources[1].id: must be at least 1"},
		{"an id twice", itemJSON(9, "loki", `{}`), "datasources[1].id: 9 is given twice"},
		{"another account", strings.Replace(good, "2451002751131", "1", 1), "datasources[1].account_id: must be 2451002751131, the account of the file, got 1"},
		{"unknown type", strings.Replace(good, `"type_ident": "mysql"`, `"type_ident": "redis"`, 1), "datasources[1].type_ident: must be one of"},
		{"no name", strings.Replace(good, `"name": "Metrics"`, `"name": ""`, 1), "datasources[1].name"},
		{"bad address", strings.Replace(good, `"m:3306"`, `"m"`, 1), "datasources[1].address"},
		{"no payload", strings.Replace(good, `"payload": {"mysql": {}},`, ``, 1), "datasources[1].payload: is required"},
		{"another block", strings.Replace(good, `"payload": {"mysql": {}},`, `"payload": {"oracle": {}},`, 1), "datasources[1].payload.mysql: is required"},
		{"two blocks", strings.Replace(good, `"payload": {"mysql": {}},`, `"payload": {"oracle": {}, "mysql": {}},`, 1), "datasources[1].payload: must hold no other block than mysql"},
		{"negative pool", itemJSON(1, "mysql", `{"idle_conns": -1}`), "datasources[1].payload.mysql.idle_conns: must be at least 0"},
		{"negative time", strings.Replace(good, "1776052801", "-1", 1), "datasources[1].updated_at"},
	} {
		t.Run(c.name, func(t *testing.T) {
			records := []datasource.Record{decodeRecord(t, itemJSON(9, "sls", `{}`)), decodeRecord(t, c.record)}
			err := s.DB.Write(context.Background(), func(tx *db.Tx) error {
				if err := datasource.Load(tx, newKeyring(t), apitest.AccountA, records); err != nil {
					return err
				}
				return errRollback
			})
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %s", err, c.says)
			}
		})
	}
}

// TestRecordDefaults: a file may leave out enabled and the account.
func TestRecordDefaults(t *testing.T) {
	r := decodeRecord(t, `{"id": 1, "type_ident": "loki", "name": "n", "address": "http://l", "edge_cluster_name": "e", "payload": {"loki": {}}}`)
	dumped := passed(t, apitest.OpenDB(t), newKeyring(t), []datasource.Record{r}, true)
	if !dumped[0].Enabled || dumped[0].AccountID != apitest.AccountA {
		t.Errorf("%+v", dumped[0])
	}
	var unknown datasource.Record
	err := json.Unmarshal([]byte(`{"payload": {"loki": {"colour": 1}}}`), &unknown, json.RejectUnknownMembers(true))
	if err == nil || !strings.Contains(err.Error(), `unknown object member name "colour" within "/payload/loki"`) {
		t.Errorf("%v", err)
	}
}
