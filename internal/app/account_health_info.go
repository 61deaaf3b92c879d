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
	Problem    string     `json:"problem" doc:"What fails or why it is held, in words; also a clock that is far off, a key file that cannot be used, or a disk that will be full within a day, while all is well. Empty: nothing."`
	KeyFile    string     `json:"key_file" enum:",missing,exposed,malformed,other_keys,unreadable" doc:"Why the file of the sealing keys cannot be used: the server goes on with the keys in memory, but does not start again without the file. Empty: it is in order, or the keys were given as text."`
	Version    string     `json:"version" doc:"Of the program."`
	Now        int64      `json:"now" doc:"What the server's clock shows, Unix milliseconds."`
	Store      storeInfo  `json:"store" doc:"Where data is stored."`
	Work       []workInfo `json:"work" doc:"What is due, by kind."`
	Failed     int64      `json:"notices_failed_last_hour" doc:"Messages that failed for good."`
	Nodes      []nodeInfo `json:"nodes" doc:"The processes that serve this database now: this one alone, or all that share a PostgreSQL database."`
	LastSentAt int64      `json:"last_sent_at" doc:"When the account's last message to a person was sent, Unix milliseconds; 0: none was in 90 days."`
}

type storeInfo struct {
	Kind      string `json:"kind" doc:"sqlite or postgres."`
	Bytes     int64  `json:"bytes" doc:"Size of the database."`
	LogBytes  int64  `json:"log_bytes" doc:"Size of the write-ahead log beside it, which is part of it; 0 with PostgreSQL."`
	FreeBytes int64  `json:"free_bytes" doc:"What the disk still takes; -1: not known."`
	FullAt    int64  `json:"full_at" doc:"When the disk will be full at the present rate, Unix seconds; 0: not within a day, or not known, as with PostgreSQL."`
}

type nodeInfo struct {
	Name      string `json:"name" doc:"Of its machine."`
	Address   string `json:"address" doc:"That it listens on."`
	Version   string `json:"version" doc:"Of the program."`
	StartedAt int64  `json:"started_at" doc:"Unix milliseconds."`
	SeenAt    int64  `json:"seen_at" doc:"Its last heartbeat, Unix milliseconds."`
	Offset    int64  `json:"clock_offset_ms" doc:"What is added to its machine's clock, so that it shows the database's time."`
	Answering bool   `json:"answering" doc:"It is the one that sends this reply."`
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
	reply = healthInfo{Status: "ok", Version: a.Version, Now: c.Now.UnixMilli(), Failed: s.Failed, Work: []workInfo{}, Nodes: []nodeInfo{}}
	reply.Status, reply.Problem = a.judge(s)
	reply.KeyFile = a.keys.state()
	for _, o := range s.Work {
		reply.Work = append(reply.Work, workInfo{o.Work, o.Count, o.Seconds, o.Held})
	}
	for _, n := range a.Nodes.Live() {
		reply.Nodes = append(reply.Nodes, nodeInfo{
			n.Name, n.Address, n.Version, n.Started.UnixMilli(), n.Seen.UnixMilli(), n.Offset.Milliseconds(), n.ID == a.Nodes.ID(),
		})
	}
	kind, _, _ := strings.Cut(a.DB.DSN(), ":")
	reply.Store = storeInfo{Kind: strings.TrimSuffix(kind, "ql"), FreeBytes: a.DB.Free(), FullAt: a.disk.fullAt()}
	reply.Store.Bytes, reply.Store.LogBytes, err = a.DB.Size(c.Ctx)
	if err != nil {
		return reply, err
	}
	reply.LastSentAt, err = notify.LastSent(c.Tx, c.Who.AccountID, c.Now.AddDate(0, 0, -90))
	return reply, err
}
