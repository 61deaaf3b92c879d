package datasource

import (
	"cmp"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// ListRequest asks for datasources, by type.
type ListRequest struct {
	Type      string `json:"type,omitzero" enum:",prometheus,loki,mysql,oracle,postgres,clickhouse,elasticsearch,sls,victorialogs" doc:"Only datasources of this type; absent or empty: of all."`
	TypeIdent string `json:"type_ident,omitzero" enum:",prometheus,loki,mysql,oracle,postgres,clickhouse,elasticsearch,sls,victorialogs" doc:"Another name of type."`
}

// Check refuses two names that disagree.
func (in ListRequest) Check() error {
	if in.Type != "" && in.TypeIdent != "" && in.Type != in.TypeIdent {
		return fault.Invalid("type_ident", "must be the same as type %s if both are sent, got %s", in.Type, in.TypeIdent)
	}
	return nil
}

// list answers /monit/datasource/list: all datasources, sorted by id, without payloads.
func (r *Service) list(c *api.Call, in ListRequest) ([]Item, error) {
	items, err := db.All(c.Tx, scanItem, `SELECT `+columns+` FROM datasource WHERE account_id = $1 AND ($2 = '' OR type_ident = $2)`,
		c.Who.AccountID, cmp.Or(in.Type, in.TypeIdent))
	for i := range items {
		items[i].Payload = nil
	}
	slices.SortFunc(items, byID)
	return items, err
}

// All returns the datasources of an account by id, with their secrets sealed.
func All(tx *db.Tx, account int64) ([]Item, error) {
	items, err := db.All(tx, scanItem, `SELECT `+columns+` FROM datasource WHERE account_id = $1`, account)
	slices.SortFunc(items, byID)
	return items, err
}

// byID compares by id. The database stores ids signed and would sort those over 2^63 first.
func byID(a, b Item) int { return cmp.Compare(a.ID, b.ID) }
