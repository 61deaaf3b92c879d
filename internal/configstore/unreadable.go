package configstore

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// row is an object as it is stored.
type row struct{ id, body string }

func scanRow(scan db.Scan) (r row, err error) { return r, scan(&r.id, &r.body) }

// readable returns the objects of a query for id and body. One corrupt row must not hold up the others: it is left out,
// and Unreadable counts it.
func (k Kind[T]) readable(tx *db.Tx, account int64, query string, args ...any) ([]T, error) {
	rows, err := db.All(tx, scanRow, query, args...)
	if err != nil {
		return nil, err
	}
	return k.decode(tx, account, rows), nil
}

// decode returns the objects of rows. Unreadable counts the objects that cannot be decoded.
func (k Kind[T]) decode(tx *db.Tx, account int64, rows []row) []T {
	items := make([]T, 0, len(rows))
	for _, r := range rows {
		var v T
		if err := json.Unmarshal([]byte(r.body), &v); err != nil {
			tx.Unreadable().Add(db.Row{Account: account, Kind: k.Name, ID: r.id}, r.body, err)
			continue
		}
		items = append(items, v)
	}
	return items
}

// every returns all objects of the account by id, or an error if one cannot be decoded. It is for copies, which must be
// complete.
func (k Kind[T]) every(tx *db.Tx, account int64) ([]T, error) {
	rows, err := db.All(tx, scanRow, all, account, k.Name)
	if err != nil {
		return nil, err
	}
	items := make([]T, len(rows))
	for i, r := range rows {
		if err := json.Unmarshal([]byte(r.body), &items[i]); err != nil {
			return nil, fault.Wrap(err, "%s %s", k.Name, r.id)
		}
	}
	return items, nil
}

// Contents reads the rows of a kind that is stored in a table of its own.
type Contents struct {
	Kind string
	Read func(tx *db.Tx, r db.Row) (contents string, found bool, err error) // what could not be decoded, as it is now
}

// Unreadable returns how many objects of each kind were left out of lists because they cannot be decoded, and are still
// as they were. others are the kinds that are not stored as objects.
func Unreadable(tx *db.Tx, others ...Contents) (map[string]int, error) {
	left, err := tx.Unreadable().Drop(func(r db.Row) (string, bool, error) {
		for _, own := range others {
			if own.Kind == r.Kind {
				return own.Read(tx, r)
			}
		}
		return db.One(tx, db.Column[string], `SELECT body FROM object WHERE account_id = $1 AND kind = $2 AND id = $3`, r.Account, r.Kind, r.ID)
	})
	count := map[string]int{}
	for _, r := range left {
		count[r.Kind]++
	}
	return count, err
}
