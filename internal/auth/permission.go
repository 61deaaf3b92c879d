// Package auth identifies callers and checks what they may do. It holds app keys, their permissions, and the table of
// all permissions.
//
// It must never hold a secret longer than it takes to hash it, never write one to a log or an error, and never return
// the principal of another account than the key's.
package auth

import (
	"fmt"
	"strings"
)

// Permission is the right to read or to manage one kind of resource, for example "Schedules Read
// (on-call)". Manage includes Read of the same resource.
type Permission uint8

// Permissions is a set of permissions, one bit for each.
type Permissions uint64

// The permissions of the public API, in pairs: Read, then Manage.
const (
	IncidentsRead Permission = iota
	IncidentsManage
	ChannelsRead
	ChannelsManage
	IntegrationsRead
	IntegrationsManage
	SchedulesRead
	SchedulesManage
	CalendarsRead
	CalendarsManage
	TemplatesRead
	TemplatesManage
	DatasourcesRead
	DatasourcesManage
	AlertingRulesRead
	AlertingRulesManage
	ApplicationsRead
	ApplicationsManage
	MembersRead
	MembersManage
	TeamsRead
	TeamsManage
	RolesRead
	RolesManage
	AuditRead
	AuditManage
	CustomFieldsRead
	CustomFieldsManage
	StatusPagesRead
	StatusPagesManage
	StatusPageEventsRead
	StatusPageEventsManage
	AlertingEnginesRead
	AlertingEnginesManage
	count
)

// resources names the pairs above, in the same order.
var resources = [count / 2]struct{ name, area string }{
	{"Incidents", "on-call"}, {"Channels", "on-call"}, {"Integrations", "on-call"}, {"Schedules", "on-call"},
	{"Calendars", "on-call"}, {"Templates", "on-call"}, {"Datasources", "monit"}, {"Alerting Rules", "monit"},
	{"Applications", "rum"}, {"Members", "org"}, {"Teams", "org"}, {"Roles", "org"}, {"Audit", "org"},
	{"Custom Fields", "on-call"}, {"Status Pages", "on-call"}, {"Status Pages Events", "on-call"},
	{"Alerting Engines", "monit"},
}

// All is every permission; an account's owner has it.
const All = Permissions(1<<count - 1)

// String returns the permission's wire name.
func (p Permission) String() string {
	r := resources[p/2]
	return r.name + [...]string{" Read", " Manage"}[p%2] + " (" + r.area + ")"
}

// Parse returns the permission of a wire name; the error lists all names.
func Parse(name string) (Permission, error) {
	for p := range count {
		if p.String() == name {
			return p, nil
		}
	}
	return 0, fmt.Errorf("%q is not a permission; there are: %s", name, strings.Join(Names(All), ", "))
}

// Names lists the members of a set by their wire names, in the table's order.
func Names(s Permissions) []string {
	names := []string{}
	for p := range count {
		if s&(1<<p) != 0 {
			names = append(names, p.String())
		}
	}
	return names
}

// SetOf returns the set of the named permissions as they are, without what Manage includes; see Closed.
func SetOf(names []string) (s Permissions, err error) {
	for _, name := range names {
		p, err := Parse(name)
		if err != nil {
			return 0, err
		}
		s |= 1 << p
	}
	return s, nil
}

// Closed adds the Read that each Manage includes.
func (s Permissions) Closed() Permissions {
	const manage = All / 3 * 2 // every odd bit
	return s | (s&manage)>>1
}

// Has reports whether the set holds p. The set must be closed first (see Closed).
func (s Permissions) Has(p Permission) bool { return s&(1<<p) != 0 }

// ID returns the number of the permission, for clients that want numbers; ByID finds it again. Numbers never change: new
// permissions are added at the end of the table.
func (p Permission) ID() int64 { return int64(p) + 1 }

// ByID returns the permission of a number.
func ByID(id int64) (Permission, bool) { return Permission(id - 1), id >= 1 && id <= int64(count) }

// Type returns read or manage.
func (p Permission) Type() string { return [...]string{"read", "manage"}[p%2] }

// Scope returns the part of the product that is in the name: on-call, monit, rum or org.
func (p Permission) Scope() string { return resources[p/2].area }

// Class returns the scope in words.
func (p Permission) Class() string {
	return map[string]string{"on-call": "On-call", "monit": "Monitoring", "rum": "RUM", "org": "Organization"}[p.Scope()]
}

// Words describe what the permission allows.
func (p Permission) Words() string {
	return [...]string{"Read ", "Read and change "}[p%2] + strings.ToLower(resources[p/2].name) + "."
}
