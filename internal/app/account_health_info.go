package app

import (
	"embed"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/engine/notify"
	"tocsin/internal/health"
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

// healthInfo is POST /account/health/info.
func (a *App) healthInfo(c *api.Call, _ health.Request) (reply health.Info, err error) {
	s, err := a.standingIn(c.Tx, c.Now)
	if err != nil {
		return reply, err
	}
	reply = health.Info{Status: "ok", Version: a.Version, Now: c.Now.UnixMilli(), Failed: s.Failed}
	reply.Work, reply.Nodes = []health.Work{}, []health.Node{}
	reply.Status, reply.Problem = a.judge(s)
	reply.KeyFile = a.machine.KeyFile()
	for _, o := range s.Work {
		reply.Work = append(reply.Work, health.Work{Work: o.Work, Due: o.Count, Seconds: o.Seconds, Held: o.Held})
	}
	for _, n := range a.Nodes.Live() {
		reply.Nodes = append(reply.Nodes, health.Node{
			Name: n.Name, Address: n.Address, Version: n.Version, StartedAt: n.Started.UnixMilli(), SeenAt: n.Seen.UnixMilli(),
			Offset: n.Offset.Milliseconds(), Answering: n.ID == a.Nodes.ID(),
		})
	}
	kind, _, _ := strings.Cut(a.DB.DSN(), ":")
	reply.Store = health.Store{Kind: strings.TrimSuffix(kind, "ql"), FreeBytes: a.machine.Free(c.Ctx), FullAt: a.machine.FullAt()}
	reply.Store.Bytes, reply.Store.LogBytes, err = a.DB.Size(c.Ctx)
	if err != nil {
		return reply, err
	}
	reply.LastSentAt, err = notify.LastSent(c.Tx, c.Who.AccountID, c.Now.AddDate(0, 0, -90))
	return reply, err
}
