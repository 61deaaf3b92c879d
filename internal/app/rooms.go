package app

import (
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/audit"
	"tocsin/internal/calendar"
	"tocsin/internal/change"
	"tocsin/internal/channel"
	"tocsin/internal/datasource"
	"tocsin/internal/enrichment"
	"tocsin/internal/explain"
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

// rooms lists every operation there is, room by room, in the order of the reference.
func (a *App) rooms(cursorKey []byte) [][]api.Op {
	return [][]api.Op{
		(&schedule.Room{Box: a.Box}).Ops(),
		(&alert.Room{CursorKey: cursorKey}).Ops(),
		channel.Ops(a.Box),
		(&incident.Room{Bus: a.engine.bus, CursorKey: cursorKey}).Ops(),
		(&datasource.Room{Box: a.Box}).Ops(),
		rum.New(a.Box).Ops(),
		person.Ops(),
		team.Ops(),
		role.Ops(),
		calendar.Ops(),
		template.Ops(),
		field.Ops(),
		(&integration.Room{Box: a.Box}).Ops(),
		route.Ops(),
		enrichment.Ops(),
		(&preference.Room{Box: a.Box}).Ops(),
		a.engine.escalation.Ops(),
		(&warroom.Room{Box: a.Box, Bus: a.engine.bus, Out: a.outside()}).Ops(),
		(&explain.Room{}).Ops(),
		change.Ops(),
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
