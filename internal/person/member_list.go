package person

import (
	"fmt"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/role"
)

// MemberListRequest asks for a page of persons.
type MemberListRequest struct {
	api.CursorRequest
	RoleID  int64  `json:"role_id,omitzero" minimum:"0" doc:"Only persons who have this role."`
	OrderBy string `json:"orderby,omitzero" enum:"created_at,updated_at" doc:"What to order by; absent: created_at."`
	Asc     bool   `json:"asc,omitzero" doc:"Ascending."`
	Query   string `json:"query,omitzero" maxLength:"100" doc:"Part of the name or e-mail address, in upper or lower case."`
}

// MemberListed is a page of persons.
type MemberListed struct {
	P     int64 `json:"p" doc:"The page."`
	Limit int64 `json:"limit" doc:"Persons on a page."`
	api.CursorPage[Member]
}

// members selects the persons of a list: by a part of the name or e-mail address ($2) and by a role ($3; 0: any).
const members = ` FROM person WHERE account_id = $1 AND status <> 'deleted' AND name_folded LIKE $2 ESCAPE '\'
	AND ($3 = 0 OR person_id IN (SELECT person_id FROM person_role WHERE account_id = $1 AND role_id = $3))`

// order returns the order of the list, with the condition that a person is behind a position.
func (in MemberListRequest) order() string {
	switch {
	case in.OrderBy == "updated_at" && in.Asc:
		return ` AND ($4 OR (updated_at, person_id) > ($5, $6)) ORDER BY updated_at, person_id`
	case in.OrderBy == "updated_at":
		return ` AND ($4 OR (updated_at, person_id) < ($5, $6)) ORDER BY updated_at DESC, person_id DESC`
	case in.Asc:
		return ` AND ($4 OR (created_at, person_id) > ($5, $6)) ORDER BY created_at, person_id`
	}
	return ` AND ($4 OR (created_at, person_id) < ($5, $6)) ORDER BY created_at DESC, person_id DESC`
}

// position returns where a person stands in the list.
func (in MemberListRequest) position(m Member) api.Position {
	if in.OrderBy == "updated_at" {
		return api.NumberedAt(m.UpdatedAt, m.MemberID)
	}
	return api.NumberedAt(m.CreatedAt, m.MemberID)
}

func memberList(c *api.Call, in MemberListRequest) (MemberListed, error) {
	args := []any{c.Who.AccountID, db.Containing(in.Query), in.RoleID}
	binding := fmt.Sprint("members", args, in.OrderBy, in.Asc)
	from, err := in.From(c, binding)
	if err != nil {
		return MemberListed{}, err
	}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+members, args...)
	if err != nil {
		return MemberListed{}, err
	}
	limit, offset := in.Window(20)
	items, err := db.All(c.Tx, scanMember, `SELECT `+memberColumns+members+in.order()+` LIMIT $7 + 0 OFFSET $8 + 0`,
		append(args, from.Unset(), from.At, from.Number(), limit+1, offset)...)
	if err != nil {
		return MemberListed{}, err
	}
	for i := range items {
		items[i].AccountRoleIDs, err = role.Of(c.Tx, c.Who.AccountID, items[i].MemberID)
		if err != nil {
			return MemberListed{}, err
		}
	}
	return MemberListed{max(in.P, 1), limit, api.NewCursorPage(c, items, limit, total, binding, in.position)}, nil
}
