// Package schedulefeed serves on-call shifts as iCalendar feeds at addresses that hold a secret.
//
// It must never show or store the secret of an address after it was created, answer differently for an address that was
// revoked and one that never was, or serve a feed of a person who may no longer read schedules.
package schedulefeed

import (
	"embed"
	"log/slog"
	"net/netip"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/module"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/ratelimit"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Service holds the dependencies.
type Service struct {
	DB      *db.DB
	Clock   clock.Clock
	Log     *slog.Logger
	Share   *ratelimit.Share // of the limits, that this process accepts; nil: the whole
	BaseURL string           // of the server, without a slash at its end; empty: addresses begin with their path

	reads   *ratelimit.Table[string]       // by feed
	guesses *ratelimit.Table[netip.Prefix] // addresses that are no feed's, by network
}

// New returns the service.
func New(s Service) *Service {
	s.reads, s.guesses = ratelimit.New[string](maxCounted).Divided(s.Share), ratelimit.New[netip.Prefix](maxCounted).Divided(s.Share)
	return &s
}

// Module returns the package's operations.
func (s *Service) Module() module.Module {
	return module.Module{Name: "schedulefeed", Ops: s.Ops()}
}

// Sweep drops the counters of feeds and networks without recent requests.
func (s *Service) Sweep(now time.Time) {
	s.reads.Sweep(now)
	s.guesses.Sweep(now)
}

var mayRead = []auth.Permission{auth.SchedulesRead, auth.SchedulesManage}

// Ops returns the operations of the package.
func (s *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path: "/schedule/calendar/url", Allow: mayRead, Effect: api.Write, Audit: "schedule_calendar:write:create",
			Errors: api.Missing("schedule"),
			Doc:    "Creates the address of an iCalendar feed of a schedule's, a person's or a team's shifts.",
			Notes: "The address is shown only once: everyone who has it can read the feed, at GET /calendar/feed/TOKEN.ics, without an app key. " +
				"It works until it is revoked, and while the caller may read schedules. The feed has the shifts from 30 days ago to 180 days ahead.",
			Example: `{"kind": "schedule", "id": 3846027350131}`,
			Do:      api.Do(s.url),
		},
		{
			Path: "/schedule/calendar/list", Allow: mayRead, Effect: api.Snapshot,
			Doc:     "Lists the addresses of iCalendar feeds, the newest first, without their secrets.",
			Notes:   "The caller's own; with Schedules Manage (on-call) those of the account.",
			Example: `{}`,
			Do:      api.Do(s.list),
		},
		{
			Path: "/schedule/calendar/revoke", Allow: mayRead, Effect: api.Write, Audit: "schedule_calendar:write:revoke", Danger: true,
			Doc:     "Revokes the address of an iCalendar feed, at once.",
			Notes:   "One of the caller's own; with Schedules Manage (on-call) any of the account.",
			Example: `{"feed_id": "67a1c0de0000000900000001"}`,
			Do:      api.Do(s.revoke),
		},
	})
}
