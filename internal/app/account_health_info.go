package app

import (
	"embed"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/engine/notify"
	"tocsin/internal/module"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Module returns the part that the program takes in itself: it shows persons how it is. Monitors ask /health and
// /health/ready.
func (a *App) Module() module.Module {
	return module.Module{Name: "app", Ops: api.WithReplies(golden, []api.Op{{
		Path: "/account/health/info", Allow: []auth.Permission{auth.AuditRead}, Effect: api.Snapshot,
		Doc: "Shows how the server is: its version, its store, its clock, the work that is due and the last message that it sent.",
		Notes: "Work is of all accounts of the server, in numbers alone; the last message is of the caller's. " +
			"Nothing here is a secret or a path.",
		Example: `{}`,
		Do:      api.Do(a.healthInfo),
	}})}
}

type healthRequest struct{}

// healthInfo is the reply of /account/health/info.
type healthInfo struct {
	Status     string     `json:"status" enum:"ok,failing,held" doc:"failing: work is overdue for more than a minute, so people are not notified in time; held: the server sends nothing until it is released."`
	Problem    string     `json:"problem" doc:"What fails or why it is held, in words; empty: nothing."`
	Version    string     `json:"version" doc:"Of the program."`
	Now        int64      `json:"now" doc:"What the server's clock shows, Unix milliseconds."`
	Store      storeInfo  `json:"store" doc:"Where data is stored."`
	Work       []workInfo `json:"work" doc:"What is due, by kind."`
	Failed     int64      `json:"notices_failed_last_hour" doc:"Messages that failed for good."`
	LastSentAt int64      `json:"last_sent_at" doc:"When the account's last message to a person was sent, Unix milliseconds; 0: none was in 90 days."`
}

type storeInfo struct {
	Kind      string `json:"kind" doc:"sqlite."`
	Bytes     int64  `json:"bytes" doc:"Size of the database."`
	LogBytes  int64  `json:"log_bytes" doc:"Size of the write-ahead log beside it, which is part of it."`
	FreeBytes int64  `json:"free_bytes" doc:"What the disk still takes; -1: not known."`
}

type workInfo struct {
	Work    string  `json:"work" doc:"What is to be done."`
	Due     int64   `json:"due" doc:"How much of it is due."`
	Seconds float64 `json:"oldest_seconds" doc:"For how long the oldest is due."`
	Held    bool    `json:"held" doc:"It waits because the server is held."`
}

// healthInfo is POST /account/health/info.
func (a *App) healthInfo(c *api.Call, _ healthRequest) (reply healthInfo, err error) {
	s, err := a.standingIn(c.Tx, c.Now)
	if err != nil {
		return reply, err
	}
	reply = healthInfo{Status: "ok", Version: a.Version, Now: c.Now.UnixMilli(), Failed: s.Failed, Work: []workInfo{}}
	reply.Status, reply.Problem = a.judge(s)
	for _, o := range s.Work {
		reply.Work = append(reply.Work, workInfo{o.Work, o.Count, o.Seconds, o.Held})
	}
	kind, _, _ := strings.Cut(a.DB.DSN(), ":")
	reply.Store = storeInfo{Kind: kind, FreeBytes: -1}
	if kind == "sqlite" {
		if reply.Store.Bytes, reply.Store.LogBytes, err = a.DB.Size(); err != nil {
			return reply, err
		}
		reply.Store.FreeBytes = a.DB.Free()
	}
	reply.LastSentAt, err = notify.LastSent(c.Tx, c.Who.AccountID, c.Now.AddDate(0, 0, -90))
	return reply, err
}
