package insight

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/ratelimit"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// rate is lower than that of other operations: each call may read a year.
var rate = ratelimit.Rate{PerSecond: 5, PerMinute: 60}

// exportRate is lower still: an export may send all incidents of a year.
var exportRate = ratelimit.Rate{PerSecond: 1, PerMinute: 10}

// Ops returns the operations of the package.
func (s *Service) Ops() []api.Op {
	incidents, alerts := []auth.Permission{auth.IncidentsRead}, []auth.Permission{auth.ChannelsRead}
	const (
		window  = `{"start_time": 1776000000, "end_time": 1776600000, "aggregate_unit": "day"}`
		whole   = `{"start_time": 1776000000, "end_time": 1778000000}`
		defined = "docs/insight.md defines each figure. Private channels that the caller may not read do not count. "
		file    = "The reply is a CSV file in UTF-8 with a header, and no envelope. " +
			"A cell that a spreadsheet would compute begins with an apostrophe. "
	)
	ops := []api.Op{
		{Path: "/insight/account", Doc: "Shows figures of all incidents of the account.", Example: window,
			Notes: defined + "With aggregate_unit there is a row for each part of the window, also for those without incidents. " +
				"total is the whole window.",
			Do: computed(s, account)},
		{Path: "/insight/team", Doc: "Shows figures of incidents by the team that owns their channel.", Notes: defined, Example: window,
			Do: computed(s, byTeam)},
		{Path: "/insight/channel", Doc: "Shows figures of incidents by channel.", Notes: defined, Example: window,
			Do: computed(s, byChannel)},
		{Path: "/insight/responder", Doc: "Shows figures of incidents by the persons who were responsible or notified.",
			Notes: defined, Example: window, Do: computed(s, byResponder)},
		{Path: "/insight/incident/list", Doc: "Lists incidents with their figures, page by page.", Notes: defined, Example: whole,
			Do: computed(s, s.list)},
		{Path: "/insight/alert/topk-by-label", Doc: "Lists the values of a label that most alerts have.", Allow: alerts,
			Notes: "Alerts count by when they began, whether they joined an incident or not. " +
				"Private channels that the caller may not read do not count.",
			Example: `{"start_time": 1776000000, "end_time": 1776600000, "label": "check", "k": 10}`, Do: computed(s, topByLabel)},
		{Path: "/insight/team/export", Doc: "Writes the figures of /insight/team to a file.", Notes: file, Example: whole,
			Audit: "insight:write:export-team", Do: exported(s, "teams", source.teams)},
		{Path: "/insight/channel/export", Doc: "Writes the figures of /insight/channel to a file.", Notes: file, Example: whole,
			Audit: "insight:write:export-channel", Do: exported(s, "channels", source.channels)},
		{Path: "/insight/responder/export", Doc: "Writes the figures of /insight/responder to a file.", Notes: file, Example: whole,
			Audit: "insight:write:export-responder", Do: exported(s, "responders", source.responders)},
		{Path: "/insight/incident/export", Doc: "Writes the incidents of /insight/incident/list to a file.",
			Notes: file + "The columns are those of the list, or those that export_fields names.", Example: whole,
			Audit: "insight:write:export-incident", Do: api.Do(s.export)},
	}
	ops = append(ops, s.reports()...)
	for n := range ops {
		op := &ops[n]
		op.Effect, op.Rate = api.Snapshot, rate
		if op.Audit != "" {
			op.Effect, op.Rate = api.Write, exportRate
		}
		if op.Allow == nil {
			op.Allow = incidents
		}
	}
	return api.WithReplies(golden, ops)
}
