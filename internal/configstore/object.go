// Package configstore stores an account's configuration: the objects that are read as a whole (object.go), which object
// refers to which (reference.go), the revision that counts changes and the cache that it keys (revision.go, cache.go), and
// the checks of account file records (check.go).
//
// A noun describes its objects in a Kind. It gets storing, paging, searching, references and its section of the account
// file from here. References are written in the transaction in which an object changes, so that nothing is deleted while
// something else needs it. Callers that cache derived configuration rebuild it when the revision changes.
//
// It must never know what an object means, decide whether a referenced object exists, store a secret in clear, or count
// what happens to alerts and incidents: that would empty every cache with each event.
package configstore

import (
	"strconv"

	"github.com/go-json-experiment/json"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Head is the part that all objects have in common.
type Head struct {
	ID        string // numbers in decimal; unique among the kind's objects of the account
	Parent    string // the object it belongs to; empty: none
	Rank      int64  // its position among the objects of the same parent, lowest first
	Name      string // what people call it
	Search    string // further text that a search covers
	Team      int64  // owning team; 0: none
	Creator   int64  // 0: not known
	CreatedAt int64  // Unix seconds; 0: not known
	UpdatedAt int64
}

// Kind describes the objects of one kind. T is their shape in the API and in the account file.
type Kind[T any] struct {
	Name     string // as references and the audit log call it, one of the constants of internal/configstore
	Section  string // its list in the account file
	Head     func(*T) Head
	Refs     func(*T) []Target                                                 // the objects it refers to; nil: none
	Check    func(tx *db.Tx, at RecordPath, account int64, v *T) error         // checks a record of an account file
	Examine  func(at RecordPath, v *T) error                                   // checks what takes long, before the transaction; nil: nothing
	CheckAll func(section string, records []T) error                           // checks bounds on all records of a file together; nil: none
	Secrets  func(v *T, rewrite func(name, text string) (string, error)) error // replaces every secret by rewrite; nil: it has none
}

const columns = `account_id, kind, id, parent, rank, name_folded, team_id, creator_id, created_at, updated_at, body`

func scan[T any](row db.Scan) (v T, err error) {
	var body string
	err = row(&body)
	if err == nil {
		err = json.Unmarshal([]byte(body), &v)
	}
	return v, err
}

// Find reads an object; found is false when the account has none of this id. Its secrets stay sealed.
func (k Kind[T]) Find(tx *db.Tx, account int64, id string) (v T, found bool, err error) {
	v, found, err = db.One(tx, scan[T], `SELECT body FROM object WHERE account_id = $1 AND kind = $2 AND id = $3`, account, k.Name, id)
	return v, found, fault.Wrap(err, "%s %s", k.Name, id)
}

// Get returns an object, or ResourceNotFound.
func (k Kind[T]) Get(tx *db.Tx, account int64, id string) (v T, err error) {
	v, found, err := k.Find(tx, account, id)
	if err == nil && !found {
		err = fault.Missing(k.Name, id)
	}
	return v, err
}

// Exists reports whether the account has an object of this id.
func (k Kind[T]) Exists(tx *db.Tx, account int64, id string) (bool, error) {
	return Known(tx, account, Target{k.Name, id})
}

// Parent returns the id of the object that an object of any kind belongs to; empty: it belongs to none, or does not exist.
func Parent(tx *db.Tx, account int64, kind, id string) (string, error) {
	parent, _, err := db.One(tx, db.Column[string], `SELECT parent FROM object WHERE account_id = $1 AND kind = $2 AND id = $3`, account,
		kind, id)
	return parent, err
}

// Of returns the objects of a parent in their order: by rank, and where that is equal the older first.
func (k Kind[T]) Of(tx *db.Tx, account int64, parent string) ([]T, error) {
	return k.readable(tx, account, children, account, k.Name, parent)
}

// Each returns objects by number, in the order of ids, each once, without those that do not exist.
func (k Kind[T]) Each(tx *db.Tx, account int64, ids []int64) ([]T, error) {
	items, seen := []T{}, map[int64]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		one, err := k.readable(tx, account, `SELECT id, body FROM object WHERE account_id = $1 AND kind = $2 AND id = $3`, account, k.Name,
			strconv.FormatInt(id, 10))
		if err != nil {
			return nil, err
		}
		items = append(items, one...)
	}
	return items, nil
}

const (
	all      = `SELECT id, body FROM object WHERE account_id = $1 AND kind = $2 ORDER BY id`
	children = `SELECT id, body FROM object WHERE account_id = $1 AND kind = $2 AND parent = $3 ORDER BY rank, created_at, id`
)

// All returns all objects of the account by id. As in all lists, objects that cannot be decoded are left out.
func (k Kind[T]) All(tx *db.Tx, account int64) ([]T, error) {
	return k.readable(tx, account, all, account, k.Name)
}

// Insert stores a new object; fresh is false, and nothing is stored, when its id is taken.
func (k Kind[T]) Insert(tx *db.Tx, account int64, v *T) (fresh bool, err error) {
	values, err := k.values(account, v)
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(`INSERT INTO object (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
		values...)
	if err != nil || n == 0 {
		return false, err
	}
	return true, k.refer(tx, account, v, AddReferences)
}

// Put inserts or updates an object.
func (k Kind[T]) Put(tx *db.Tx, account int64, v *T) error {
	values, err := k.values(account, v)
	if err != nil {
		return err
	}
	err = tx.Do(`INSERT INTO object (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (account_id, kind, id) DO UPDATE
			SET parent = excluded.parent, rank = excluded.rank, name_folded = excluded.name_folded, team_id = excluded.team_id,
			creator_id = excluded.creator_id, created_at = excluded.created_at, updated_at = excluded.updated_at, body = excluded.body`, values...)
	if err != nil {
		return err
	}
	return k.refer(tx, account, v, SetReferences)
}

// Delete deletes an object and its references to others. The caller must first check for references to the object (see
// RefuseReferenced) and for objects that have it as parent (see DeleteOf).
func (k Kind[T]) Delete(tx *db.Tx, account int64, id string) error {
	return Delete(tx, account, k.Name, id)
}

// Delete deletes an object of a kind that the caller knows only by name.
func Delete(tx *db.Tx, account int64, kind, id string) error {
	if err := tx.Do(`DELETE FROM object WHERE account_id = $1 AND kind = $2 AND id = $3`, account, kind, id); err != nil {
		return err
	}
	if err := BumpRevision(tx, account); err != nil {
		return err
	}
	return ClearReferences(tx, account, kind, id)
}

// DeleteOf deletes the objects of a parent and returns them.
func (k Kind[T]) DeleteOf(tx *db.Tx, account int64, parent string) ([]fault.Ref, error) {
	rows, err := db.All(tx, scanRow, children, account, k.Name, parent)
	if err != nil {
		return nil, err
	}
	gone := make([]fault.Ref, len(rows))
	for i, r := range rows {
		gone[i] = fault.Ref{Kind: k.Name, ID: r.id}
		var v T
		if err := json.Unmarshal([]byte(r.body), &v); err == nil { // else it is deleted too, without its name
			gone[i] = k.Ref(&v)
		}
		if err := k.Delete(tx, account, gone[i].ID); err != nil {
			return nil, err
		}
	}
	return gone, nil
}

// Ref returns the reference to an object.
func (k Kind[T]) Ref(v *T) fault.Ref {
	h := k.Head(v)
	return fault.Ref{Kind: k.Name, ID: h.ID, Name: h.Name}
}

func (k Kind[T]) values(account int64, v *T) ([]any, error) {
	h := k.Head(v)
	body, err := json.Marshal(v, json.Deterministic(true))
	return []any{account, k.Name, h.ID, h.Parent, h.Rank, db.Fold(h.Name + "\n" + h.Search), h.Team, h.Creator, h.CreatedAt, h.UpdatedAt,
		string(body)}, err
}

// refer increments the account's revision and stores the references of an object.
func (k Kind[T]) refer(tx *db.Tx, account int64, v *T, store func(*db.Tx, int64, fault.Ref, ...Target) error) error {
	if err := BumpRevision(tx, account); err != nil || k.Refs == nil {
		return err
	}
	return store(tx, account, k.Ref(v), k.Refs(v)...)
}

// SetIfSent sets a member of an object to the value that a request sent; nil leaves the member as it is.
func SetIfSent[T any](member *T, sent *T) {
	if sent != nil {
		*member = *sent
	}
}
