package api

import (
	"net/netip"
	"time"

	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/ratelimit"
)

// KeyGuesses limits how many unknown keys a network address may try. The frame and the endpoints with their own kinds of
// keys share one limit.
type KeyGuesses struct {
	table *ratelimit.Table[netip.Prefix]
}

// keyGuessLimit is how many unknown keys one network address may try. maxAddresses is how many addresses are counted
// separately; the others share one allowance.
var keyGuessLimit = ratelimit.Rate{PerMinute: 300}

const maxAddresses = 10_000

// NewKeyGuesses returns a limit without any counted key, of which this process accepts a share.
func NewKeyGuesses(share *ratelimit.Share) *KeyGuesses {
	return &KeyGuesses{ratelimit.New[netip.Prefix](maxAddresses).Divided(share)}
}

// Guessed counts a key that does not exist and returns a fault when its network address has tried too many.
func (g *KeyGuesses) Guessed(c *Call) error {
	address, _ := netip.ParseAddr(c.IP)
	if v := g.Allow(ratelimit.Network(address), c.Now); !v.OK {
		return fault.TooSoon(v.RetryAfter, "too many unknown keys from this address")
	}
	return nil
}

// Allow counts a key or a password that was guessed wrong from a network, and reports whether more may be tried.
func (g *KeyGuesses) Allow(network netip.Prefix, now time.Time) ratelimit.Result {
	return g.table.Allow(network, keyGuessLimit, now)
}

// sweep drops the counters of addresses without recent calls, and returns how many are left.
func (g *KeyGuesses) sweep(now time.Time) int { return g.table.Sweep(now) }
