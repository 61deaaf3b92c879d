package person

import (
	"fmt"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/credential"
	"tocsin/internal/role"
)

type memberRoleRequest struct {
	MemberID int64   `json:"member_id" minimum:"1" doc:"The person."`
	RoleIDs  []int64 `json:"role_ids" maxItems:"100" doc:"The roles, at most 100."`
}

func memberRoleGrant(c *api.Call, in memberRoleRequest) (api.Empty, error) {
	if err := eachRole(c, in, role.Grant); err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, warnOutgrown(c, in.MemberID)
}

func memberRoleRevoke(c *api.Call, in memberRoleRequest) (api.Empty, error) {
	return api.Empty{}, eachRole(c, in, role.Revoke)
}

// eachRole grants or revokes each of the roles.
func eachRole(c *api.Call, in memberRoleRequest, do func(*api.Call, int64, []int64) error) error {
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

// warnOutgrown warns of links that a grant ends: the person who got one could not sign in, and would not know why.
func warnOutgrown(c *api.Call, person int64) error {
	outgrown, err := credential.Outgrown(c.Tx, c.Who.AccountID, person, c.Now)
	if outgrown {
		c.Warn(fmt.Sprintf("member_id: links to set a password of person %d do not work any more, because the person may do more than when "+
			"they were made; make a new link", person))
	}
	return err
}

func memberRoleUpdate(c *api.Call, in memberRoleRequest) (api.Empty, error) {
	m, err := getMember(c.Tx, c.Who.AccountID, in.MemberID)
	if err != nil {
		return api.Empty{}, err
	}
	c.Touched(configstore.Person, m.MemberID, m.MemberName)
	if err := role.Replace(c, in.MemberID, in.RoleIDs); err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, warnOutgrown(c, in.MemberID)
}
