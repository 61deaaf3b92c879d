package person

import (
	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/role"
)

type memberListRequest struct {
	api.Page
	RoleID  int64  `json:"role_id,omitzero" minimum:"0" doc:"Only persons who have this role."`
	OrderBy string `json:"orderby,omitzero" enum:"created_at,updated_at" doc:"What to order by; absent: created_at."`
	Asc     bool   `json:"asc,omitzero" doc:"Ascending."`
	Query   string `json:"query,omitzero" maxLength:"100" doc:"Part of the name or e-mail address, in upper or lower case."`
}

type memberListed struct {
	P     int64    `json:"p" doc:"The page."`
	Limit int64    `json:"limit" doc:"Persons on a page."`
	Total int64    `json:"total" doc:"How many there are, exactly."`
	Items []Member `json:"items" doc:"The persons of this page, pending ones too."`
}

// members selects the persons of a list: by a part of the name or e-mail address ($2) and by a role ($3; 0: any).
const members = ` FROM person WHERE account_id = $1 AND status <> 'deleted' AND name_folded LIKE $2 ESCAPE '\'
	AND ($3 = 0 OR person_id IN (SELECT person_id FROM person_role WHERE account_id = $1 AND role_id = $3))`

// order returns the ORDER BY of the list.
func (in memberListRequest) order() string {
	switch {
	case in.OrderBy == "updated_at" && in.Asc:
		return ` ORDER BY updated_at, person_id`
	case in.OrderBy == "updated_at":
		return ` ORDER BY updated_at DESC, person_id DESC`
	case in.Asc:
		return ` ORDER BY created_at, person_id`
	}
	return ` ORDER BY created_at DESC, person_id DESC`
}

func memberList(c *api.Call, in memberListRequest) (memberListed, error) {
	args := []any{c.Who.AccountID, db.Containing(in.Query), in.RoleID}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+members, args...)
	if err != nil {
		return memberListed{}, err
	}
	limit, offset := in.Window(20)
	items, err := db.All(c.Tx, scanMember, `SELECT `+memberColumns+members+in.order()+` LIMIT $4 + 0 OFFSET $5 + 0`,
		append(args, limit, offset)...)
	if err != nil {
		return memberListed{}, err
	}
	for i := range items {
		if items[i].AccountRoleIDs, err = role.Of(c.Tx, c.Who.AccountID, items[i].MemberID); err != nil {
			return memberListed{}, err
		}
	}
	return memberListed{max(in.P, 1), limit, total, items}, nil
}
