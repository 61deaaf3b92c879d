package console

import (
	"strconv"

	"tocsin/internal/auth"
)

// The address is below /health, which monitors ask.
var healthPages = []page{{path: "/health/server", template: "health", tab: "configuration", show: showHealth}}

// readHealth is the permission that the page needs.
var readHealth = rights{auth.AuditRead}

// healthView is how the server is.
type healthView struct {
	titled
	Health health
}

type health struct {
	Status  string `json:"status"`
	KeyFile string `json:"key_file"` // what is wrong with it; empty: nothing
	Problem string `json:"problem"`
	Version string `json:"version"`
	Clock   int64  `json:"now"` // Unix milliseconds
	Store   struct {
		Kind string `json:"kind"`
		Size int64  `json:"bytes"`
		Log  int64  `json:"log_bytes"`
		Free int64  `json:"free_bytes"`
		Full int64  `json:"full_at"` // Unix seconds; 0: not within a day
	} `json:"store"`
	Work []struct {
		Name   string  `json:"work"`
		Due    int64   `json:"due"`
		Oldest float64 `json:"oldest_seconds"`
		Held   bool    `json:"held"`
	} `json:"work"`
	Nodes    []healthNode `json:"nodes"`
	Failed   int64        `json:"notices_failed_last_hour"`
	LastSent int64        `json:"last_sent_at"` // Unix milliseconds; 0: nothing was sent
}

// healthNode is a process that serves the database.
type healthNode struct {
	Name      string `json:"name"`
	Address   string `json:"address"`
	Version   string `json:"version"`
	Started   int64  `json:"started_at"` // Unix milliseconds
	Offset    int64  `json:"clock_offset_ms"`
	Answering bool   `json:"answering"`
}

// StartedAt returns when it started, in Unix seconds.
func (n healthNode) StartedAt() int64 { return n.Started / 1000 }

// At returns what the server's clock shows, in Unix seconds.
func (h health) At() int64 { return h.Clock / 1000 }

// SentAt returns when the last message was sent, in Unix seconds.
func (h health) SentAt() int64 { return h.LastSent / 1000 }

// Little reports whether the disk takes less than the database already needs, or less than a gibibyte.
func (h health) Little() bool { return h.Store.Free >= 0 && h.Store.Free < max(h.Store.Size, 1<<30) }

// keyFileTrouble are the texts of what is wrong with the key file.
var keyFileTrouble = map[string]string{
	"missing":    "The key file is missing.",
	"exposed":    "Others than its owner can read or change the key file.",
	"malformed":  "The key file holds no valid keys.",
	"other_keys": "The key file has other keys than those in use.",
	"unreadable": "The key file cannot be read.",
}

// Troubled reports whether something is wrong with the server that its operator has to mend.
func (h health) Troubled() bool { return h.KeyFile != "" || h.Store.Full != 0 || h.Status == "failing" }

// KeyFileTrouble returns what is wrong with the key file.
func (v *visit) KeyFileTrouble(kind string) string { return v.T(keyFileTrouble[kind]) }

func showHealth(v *visit) (view, error) {
	d := healthView{titled: titled(v.T("How the server is"))}
	err := v.call("/account/health/info", struct{}{}, &d.Health)
	return d, err
}

// Bytes writes a size for people.
func (v *visit) Bytes(n int64) string {
	if n < 0 {
		return v.T("not known")
	}
	size, unit := float64(n), 0
	for ; size >= 1024 && unit < 4; unit++ {
		size /= 1024
	}
	digits := 1
	if unit == 0 {
		digits = 0
	}
	return strconv.FormatFloat(size, 'f', digits, 64) + " " + []string{"B", "KiB", "MiB", "GiB", "TiB"}[unit]
}

// Whole returns seconds as a whole number, for Span.
func (v *visit) Whole(seconds float64) int64 { return int64(seconds) }
