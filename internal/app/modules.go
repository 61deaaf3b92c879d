package app

import (
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/audit"
	"tocsin/internal/calendar"
	"tocsin/internal/changeevent"
	"tocsin/internal/channel"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/explain"
	"tocsin/internal/enrichment"
	"tocsin/internal/field"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/person"
	"tocsin/internal/preference"
	"tocsin/internal/role"
	"tocsin/internal/route"
	"tocsin/internal/rum"
	"tocsin/internal/schedule"
	"tocsin/internal/team"
	"tocsin/internal/template"
	"tocsin/internal/warroom"
)

// operations lists every operation there is, room by room, in the order of the reference.
func (a *App) operations(cursorKey []byte) [][]api.Op {
	return [][]api.Op{
		(&schedule.Service{Keyring: a.Keyring}).Ops(),
		(&alert.Service{CursorKey: cursorKey}).Ops(),
		channel.Ops(a.Keyring),
		(&incident.Service{Bus: a.engine.bus, CursorKey: cursorKey}).Ops(),
		(&datasource.Service{Keyring: a.Keyring}).Ops(),
		rum.New(a.Keyring).Ops(),
		person.Ops(),
		team.Ops(),
		role.Ops(),
		calendar.Ops(),
		template.Ops(),
		field.Ops(),
		(&integration.Service{Keyring: a.Keyring}).Ops(),
		route.Ops(),
		enrichment.Ops(),
		(&preference.Service{Keyring: a.Keyring}).Ops(),
		a.engine.escalation.Ops(),
		(&warroom.Service{Keyring: a.Keyring, Bus: a.engine.bus, Out: a.outside()}).Ops(),
		(&explain.Service{}).Ops(),
		changeevent.Ops(),
		a.engine.webhook.Ops(),
		audit.New(cursorKey, a.recorded, channel.Hidden).Ops(),
	}
}

// recorded lists the operations that the audit log records.
func (a *App) recorded() []audit.Operation {
	list := []audit.Operation{}
	for _, op := range a.Frame.Ops() {
		if op.Audit != "" {
			list = append(list, audit.Named(op.Audit))
		}
	}
	return list
}
