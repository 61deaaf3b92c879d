package page

import (
	"net/http"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

// Rights are permissions of which one is enough, as in api.Op.
type Rights []auth.Permission

// The permissions that several pages and actions need.
var (
	ManageIncidents = Rights{auth.IncidentsManage}
	ManageSchedules = Rights{auth.SchedulesManage}
	ReadSchedules   = Rights{auth.SchedulesRead, auth.SchedulesManage}
	ReadLint        = Rights{auth.ChannelsRead, auth.ChannelsManage}
)

// need returns the error of a person who has none of the permissions.
func (v *Visit) need(one Rights) error {
	if v.Who.MayAny(one) {
		return nil
	}
	missing := v.T("You need the permission %s. Ask an owner of the account.", v.T(one[0].String()))
	return &api.Refusal{Status: http.StatusForbidden, Code: "AccessDenied", Message: missing}
}

// May reports whether the person has a permission, for templates. A name that is none is an error: else a control would
// stay hidden from everyone.
func (v *Visit) May(name string) (bool, error) {
	p, err := auth.Parse(name)
	return err == nil && v.Who.May(p), err
}

// MayPlan reports whether the person may change schedules.
func (v *Visit) MayPlan() bool { return v.Who.May(auth.SchedulesManage) }

// MayReadSchedules reports whether the person may look into schedules.
func (v *Visit) MayReadSchedules() bool { return v.Who.MayAny(ReadSchedules) }

// MayAnswer reports whether the person may answer requests for cover.
func (v *Visit) MayAnswer() bool { return !v.Who.Narrowed || v.MayPlan() }

// ManagesIncidents reports whether the visitor may act on incidents.
func (v *Visit) ManagesIncidents() bool { return v.Who.May(auth.IncidentsManage) }

// ReadsUntold reports whether the visitor may read what reached no one.
func (v *Visit) ReadsUntold() bool { return v.Who.May(auth.IncidentsRead) }

// ReadsLint reports whether the visitor may read what is wrong with the configuration.
func (v *Visit) ReadsLint() bool { return v.Who.MayAny(ReadLint) }

// ManageIntegrations is the permission that the forms of integrations need.
var ManageIntegrations = Rights{auth.IntegrationsManage}
