package role

import (
	"slices"
	"strings"

	"tocsin/internal/auth"
	"tocsin/internal/platform/id"
)

// Presets returns the roles of a new account: without a role, a person whom the owner invites may do nothing. They are roles like any
// other, which may be changed and deleted. Migration 0161 added the same to the accounts of its time.
func Presets() []Record {
	return []Record{
		{
			RoleID: id.Number(), RoleName: "Owner", Description: "Does everything, and decides who may do what",
			Permissions: changing(),
		},
		{
			RoleID: id.Number(), RoleName: "Manager", Description: "Sets up schedules, channels, sources and rules, and invites people",
			Permissions: manager(),
		},
		{
			RoleID: id.Number(), RoleName: "Responder", Description: "Is on call: handles incidents, and reads schedules, channels and integrations",
			Permissions: []string{
				auth.IncidentsManage.String(), auth.ChannelsRead.String(), auth.IntegrationsRead.String(), auth.SchedulesRead.String(),
				auth.CalendarsRead.String(), auth.TemplatesRead.String(), auth.MembersRead.String(), auth.TeamsRead.String(),
			},
		},
		{
			RoleID: id.Number(), RoleName: "Viewer", Description: "Reads everything but the audit log and datasources, and changes nothing",
			Permissions: viewer(),
		},
	}
}

// changing returns all permissions to change, which include those to read.
func changing() []string {
	return slices.DeleteFunc(auth.Names(auth.All), func(name string) bool { return strings.Contains(name, " Read (") })
}

// manager returns what Owner has but the permissions on the audit log and to decide who may do what.
func manager() []string {
	all := slices.DeleteFunc(changing(), func(name string) bool {
		return name == auth.RolesManage.String() || name == auth.AuditManage.String()
	})
	return append(all, auth.RolesRead.String()) // those who grant a role must have its permissions
}

// viewer returns the permissions to read. Those on datasources are not among them: with them any query can be run.
func viewer() []string {
	return slices.DeleteFunc(auth.Names(auth.All), func(name string) bool {
		return strings.Contains(name, " Manage (") || name == auth.AuditRead.String() || name == auth.DatasourcesRead.String()
	})
}

// IsPreset reports whether a role has the name and the description of one of Presets, whose texts are the program's.
func IsPreset(name, description string) bool {
	return slices.ContainsFunc(Presets(), func(r Record) bool { return r.RoleName == name && r.Description == description })
}
