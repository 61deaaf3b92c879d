package role

import "tocsin/internal/api"

// MemberRequest names a role and persons.
type MemberRequest struct {
	RoleID    int64   `json:"role_id" minimum:"1" doc:"The role."`
	MemberIDs []int64 `json:"member_ids" minItems:"1" maxItems:"100" doc:"The persons, 1 to 100."`
}

func memberGrant(c *api.Call, in MemberRequest) (api.Empty, error) {
	return api.Empty{}, Grant(c, in.RoleID, in.MemberIDs)
}

func memberRevoke(c *api.Call, in MemberRequest) (api.Empty, error) {
	return api.Empty{}, Revoke(c, in.RoleID, in.MemberIDs)
}
