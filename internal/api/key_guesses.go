package api

import (
	"net/netip"
	"time"

	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/ratelimit"
)

// KeyGuesses limits how many unknown keys a network may try, over all that takes keys: the frame, and what else reads a
// key of its own kind.
type KeyGuesses struct {
	table *ratelimit.Table[netip.Prefix]
}

// keyGuessLimit is how many unknown keys one network address may try, and maxAddresses how many addresses
// are told apart; those beyond share one allowance.
var keyGuessLimit = ratelimit.Rate{PerMinute: 300}

const maxAddresses = 10_000

// NewKeyGuesses returns a limit of which nothing is used.
func NewKeyGuesses() *KeyGuesses { return &KeyGuesses{ratelimit.New[netip.Prefix](maxAddresses)} }

// Guessed counts a key that does not exist and reports whether its network may go on trying.
func (g *KeyGuesses) Guessed(c *Call) error {
	address, _ := netip.ParseAddr(c.IP)
	if v := g.allow(ratelimit.Network(address), c.Now); !v.OK {
		return fault.New(fault.TooFrequent, "too many unknown keys from this address")
	}
	return nil
}

func (g *KeyGuesses) allow(network netip.Prefix, now time.Time) ratelimit.Result {
	return g.table.Allow(network, keyGuessLimit, now)
}

// sweep drops what is remembered of addresses that have gone quiet.
func (g *KeyGuesses) sweep(now time.Time) int { return g.table.Sweep(now) }
