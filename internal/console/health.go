package console

import (
	"strconv"

	"tocsin/internal/auth"
	"tocsin/internal/health"
)

// The address is below /health, which monitors ask.
var healthPages = []page{{path: "/health/server", template: "health", tab: "configuration", show: showHealth}}

// readHealth is the permission that the page needs.
var readHealth = rights{auth.AuditRead}

// healthView is how the server is.
type healthView struct {
	titled
	Health serverHealth
}

type serverHealth struct{ health.Info }

// SentAt returns when the last message was sent, in Unix seconds.
func (h serverHealth) SentAt() int64 { return h.LastSentAt / 1000 }

// Little reports whether the disk takes less than the database already needs, or less than a gibibyte.
func (h serverHealth) Little() bool {
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
func (h serverHealth) Troubled() bool {
	return h.KeyFile != "" || h.Store.FullAt != 0 || h.Status == "failing"
}

// KeyFileTrouble returns what is wrong with the key file.
func (v *visit) KeyFileTrouble(kind string) string { return v.T(keyFileTrouble[kind]) }

func showHealth(v *visit) (view, error) {
	d := healthView{titled: titled(v.T("How the server is"))}
	var err error
	d.Health, err = v.serverHealth()
	return d, err
}

func (v *visit) serverHealth() (serverHealth, error) {
	reply, err := call[health.Info](v, "/account/health/info", health.Request{})
	return serverHealth{reply}, err
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
