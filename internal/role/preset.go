package role

import (
	"strings"

	"tocsin/internal/auth"
	"tocsin/internal/platform/id"
)

// Presets returns the roles of a new account: without a role, a person whom the owner invites may do nothing.
func Presets() []Record {
	permissions := auth.Names(auth.All)
	of := func(part string) (names []string) {
		for _, name := range permissions {
			if resource, _, found := strings.Cut(name, part); found && resource != "Audit" {
				names = append(names, name)
			}
		}
		return names
	}
	return []Record{
		{
			RoleID: id.Number(), RoleName: "Responder", Description: "Is on call: handles incidents, and reads schedules, channels and integrations",
			Permissions: []string{
				auth.IncidentsManage.String(), auth.ChannelsRead.String(), auth.IntegrationsRead.String(), auth.SchedulesRead.String(),
				auth.CalendarsRead.String(), auth.TemplatesRead.String(), auth.MembersRead.String(), auth.TeamsRead.String(),
			},
		},
		{
			RoleID: id.Number(), RoleName: "On-call manager", Description: "Sets up schedules, channels, rules and integrations",
			Permissions: append(of(" Manage (on-call)"), auth.MembersRead.String(), auth.TeamsRead.String()),
		},
		{
			RoleID: id.Number(), RoleName: "Reader", Description: "Reads everything but the audit log, and changes nothing",
			Permissions: of(" Read ("),
		},
	}
}
