package nodes

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/clock"
	"tocsin/internal/sender/gateway"
)

// ahead is a clock that is wrong by so much.
type ahead time.Duration

func (a ahead) Now() time.Time { return time.Now().Add(time.Duration(a)) }

// The clocks of three nodes differ by a minute. They run within the test, because the program always takes the time from
// the machine.
func TestClocksDiffer(t *testing.T) {
	dsn := database(t)
	c, err := New(binary, t.TempDir(), dsn)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	for i, off := range []time.Duration{-time.Minute, 0, time.Minute} {
		n := &Node{Name: fmt.Sprint("node", i+1)}
		a, err := app.New(context.Background(), app.Config{
			DB: dsn, SealKeyFile: filepath.Join(c.Dir, "seal.key"), Listen: "127.0.0.1:0", Clock: clock.Correct(ahead(off)), Version: "test",
			Log:    slog.New(slog.NewJSONHandler(&n.log, &slog.HandlerOptions{Level: slog.LevelWarn})),
			Budget: notify.Budget{Urgent: 100, Other: 100},
			Senders: app.Senders{Gateway: gateway.Gateway{URL: c.Receivers.URL + "/gateway"},
				Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
		})
		must(t, err)
		s, err := a.Start()
		must(t, err)
		t.Cleanup(func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
		n.URL = s.URL
		c.Nodes = append(c.Nodes, n)
	}
	l := StartLoad(c.URLs, 4, 40*time.Millisecond)
	time.Sleep(4 * time.Second)
	end(t, c, l, 0)
}
