package failover

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"tocsin/test/pgserver"
)

// TestStandbyTakesOver promotes a synchronous standby under load, after the primary was killed or, in every other round,
// cut off from the program. Everything that was acknowledged is there. TOCSIN_FAILOVER_ROUNDS is the number of rounds; 2
// when it is not set.
func TestStandbyTakesOver(t *testing.T) {
	t.Parallel()
	rounds := 2
	if n, err := strconv.Atoi(os.Getenv("TOCSIN_FAILOVER_ROUNDS")); err == nil {
		rounds = n
	}
	took := map[string][]time.Duration{}
	for round := range rounds {
		how := []string{"killed", "cut off"}[round%2]
		t.Run(fmt.Sprint(round+1, " ", how), func(t *testing.T) { took[how] = append(took[how], takeOver(t, how)) })
	}
	for how, all := range took {
		slices.Sort(all)
		t.Logf("primary %s: %d rounds, events accepted again after %s (median), %s at most", how, len(all), all[len(all)/2], all[len(all)-1])
	}
}

// takeOver is one round. It returns for how long no event was accepted.
func takeOver(t *testing.T, how string) time.Duration {
	primary := startServer(t, pgserver.Options{})
	must(t, primary.SQL("postgres", "CREATE DATABASE tocsin"))
	standby, err := primary.Standby()
	must(t, err)
	t.Cleanup(func() { must(t, standby.Close()) })
	must(t, statements(primary, "postgres", `ALTER SYSTEM SET synchronous_standby_names = 'standby'`, `SELECT pg_reload_conf()`)())
	way := startProxy(t, address(primary))
	p := begin(t, "postgres://postgres@"+way.Addr().String()+","+address(standby)+"/tocsin?target_session_attrs=read-write&sslmode=disable")
	l := p.load()
	p.within(time.Minute, "events are accepted", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.events) > 50 && len(l.channels) > 5
	})
	time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond) //nolint:gosec // any moment will do
	began := time.Now()
	if how == "killed" {
		must(t, primary.Kill())
	} else {
		must(t, way.swallow())
	}
	must(t, standby.Promote())
	p.within(time.Minute, "events are accepted by the standby", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.accepted.After(began) && l.longest > 0 && l.refused > 0 && time.Since(l.accepted) < time.Second
	})
	time.Sleep(300 * time.Millisecond) // of load
	l.end()
	return l.longest.Round(time.Millisecond)
}
