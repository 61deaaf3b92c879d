package person

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/role"
)

// MemberRoleRequest names a person and roles.
type MemberRoleRequest struct {
	MemberID int64   `json:"member_id" minimum:"1" doc:"The person."`
	RoleIDs  []int64 `json:"role_ids" maxItems:"100" doc:"The roles, at most 100."`
}

func memberRoleGrant(c *api.Call, in MemberRoleRequest) (api.Empty, error) {
	return api.Empty{}, eachRole(c, in, role.Grant)
}

func memberRoleRevoke(c *api.Call, in MemberRoleRequest) (api.Empty, error) {
	return api.Empty{}, eachRole(c, in, role.Revoke)
}

// eachRole grants or revokes each of the roles.
func eachRole(c *api.Call, in MemberRoleRequest, do func(*api.Call, int64, []int64) error) error {
	if _, err := getMember(c.Tx, c.Who.AccountID, in.MemberID); err != nil {
		return err
	}
	for _, r := range in.RoleIDs {
		if err := do(c, r, []int64{in.MemberID}); err != nil {
			return err
		}
	}
	return nil
}

func memberRoleUpdate(c *api.Call, in MemberRoleRequest) (api.Empty, error) {
	m, err := getMember(c.Tx, c.Who.AccountID, in.MemberID)
	if err != nil {
		return api.Empty{}, err
	}
	c.Touched(configstore.Person, m.MemberID, m.MemberName)
	return api.Empty{}, role.Replace(c, in.MemberID, in.RoleIDs)
}
