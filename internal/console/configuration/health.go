package configuration

import (
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/health"
)

// The address is below /health, which monitors ask.
var healthPages = []page.Page{{Path: "/health/server", Template: "health", Tab: "account", Show: showHealth}}

// ReadHealth is the permission that the page needs.
var ReadHealth = page.Rights{auth.AuditRead}

// healthView is how the server is.
type healthView struct {
	page.Titled
	Health ServerHealth
}

// ServerHealth is how the server is, as it reports itself.
type ServerHealth struct{ health.Info }

// SentAt returns when the last message was sent, in Unix seconds.
func (h ServerHealth) SentAt() int64 { return h.LastSentAt / 1000 }

// Little reports whether the disk takes less than the database already needs, or less than a gibibyte.
func (h ServerHealth) Little() bool {
	return h.Store.FreeBytes >= 0 && h.Store.FreeBytes < max(h.Store.Bytes, 1<<30)
}

// keyFileTrouble are the texts of what is wrong with the key file.
var keyFileTrouble = map[string]string{
	"missing":    "The key file is missing.",
	"exposed":    "Others than its owner can read or change the key file.",
	"malformed":  "The key file holds no valid keys.",
	"other_keys": "The key file has other keys than those in use.",
	"unreadable": "The key file cannot be read.",
}

// Troubled reports whether something is wrong with the server that its operator has to mend.
func (h ServerHealth) Troubled() bool {
	return h.KeyFile != "" || h.Store.FullAt != 0 || h.Status == "failing"
}

// wordsOfKeyFile returns what is wrong with the key file.
func wordsOfKeyFile(v *page.Visit, kind string) string { return v.T(keyFileTrouble[kind]) }

func showHealth(v *page.Visit) (page.View, error) {
	d := healthView{Titled: page.Titled(v.T("Server health"))}
	var err error
	d.Health, err = ReadServerHealth(v)
	return d, err
}

// ReadServerHealth reads it, which needs one of the rights of ReadHealth.
func ReadServerHealth(v *page.Visit) (ServerHealth, error) {
	reply, err := page.Call[health.Info](v, "/account/health/info", health.Request{})
	return ServerHealth{reply}, err
}

// whole returns seconds as a whole number, for Span.
func whole(v *page.Visit, seconds float64) int64 { return int64(seconds) }
