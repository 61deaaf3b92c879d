package signin

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/person"
	"tocsin/internal/platform/ratelimit"
)

// The limits of attempts. A person's own limit is that of all unknown browsers together; a browser that the person has
// signed in with before has a limit of its own, so that strangers who try passwords cannot lock the person out.
var (
	eachNetwork = ratelimit.Rate{PerMinute: 60}
	eachPair    = ratelimit.Rate{PerMinute: 5} // of a network and an e-mail address
	eachDevice  = ratelimit.Rate{PerMinute: 10}
	eachEmail   = ratelimit.Rate{PerMinute: 30}
	eachPerson  = ratelimit.Rate{PerMinute: 4} // of codes, and of passwords of a person who is signed in
)

// maxCounted is how many networks, pairs and so on are counted separately; the others share one limit.
const maxCounted = 20_000

// digest stands for a text of any length in the counters.
type digest [sha256.Size]byte

// attempts limits how often passwords and codes are tried: on this node, which bounds what it stores, and where several
// serve the database on all of them together.
type attempts struct {
	networks *ratelimit.Table[netip.Prefix]
	emails   *ratelimit.Table[digest] // and pairs
	devices  *ratelimit.Table[digest] // apart, because no stranger can fill this table
	persons  *ratelimit.Table[person.Ref]
	nodes    *shared
}

func newAttempts(nodes *shared) *attempts {
	return &attempts{
		networks: ratelimit.New[netip.Prefix](maxCounted), emails: ratelimit.New[digest](maxCounted),
		devices: ratelimit.New[digest](maxCounted), persons: ratelimit.New[person.Ref](maxCounted), nodes: nodes,
	}
}

// password reports whether a password may be tried, and counts it.
func (t *attempts) password(ctx context.Context, a Attempt, known bool, now time.Time) (bool, error) {
	email, network := fold(a.Email), networkOf(a.IP)
	if !t.networks.Allow(network, eachNetwork, now).OK {
		return false, nil
	}
	byNetwork := limit{digestOf("network", network.String()), eachNetwork}
	if known {
		device := digestOf(email, a.Device)
		if !t.devices.Allow(device, eachDevice, now).OK {
			return false, nil
		}
		return t.nodes.allow(ctx, now, byNetwork, limit{device, eachDevice})
	}
	pair, all := digestOf("pair", email, network.String()), digestOf("email", email)
	if !t.emails.Allow(pair, eachPair, now).OK || !t.emails.Allow(all, eachEmail, now).OK {
		return false, nil
	}
	return t.nodes.allow(ctx, now, byNetwork, limit{pair, eachPair}, limit{all, eachEmail})
}

// network reports whether a network may try anything else that is guessed, and counts it.
func (t *attempts) network(ctx context.Context, ip string, now time.Time) (bool, error) {
	network := networkOf(ip)
	if !t.networks.Allow(network, eachNetwork, now).OK {
		return false, nil
	}
	return t.nodes.allow(ctx, now, limit{digestOf("network", network.String()), eachNetwork})
}

// code reports whether a code, or the password of a person who is signed in, may be tried, and counts it.
func (t *attempts) code(ctx context.Context, r person.Ref, now time.Time) (bool, error) {
	if !t.persons.Allow(r, eachPerson, now).OK {
		return false, nil
	}
	person := digestOf("person", strconv.FormatInt(r.AccountID, 10), strconv.FormatInt(r.PersonID, 10))
	return t.nodes.allow(ctx, now, limit{person, eachPerson})
}

// sweep drops the counters of what was not tried for a minute.
func (t *attempts) sweep(now time.Time) {
	t.networks.Sweep(now)
	t.emails.Sweep(now)
	t.devices.Sweep(now)
	t.persons.Sweep(now)
}

func networkOf(ip string) netip.Prefix {
	address, _ := netip.ParseAddr(ip)
	return ratelimit.Network(address)
}

func fold(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

func digestOf(parts ...string) digest { return sha256.Sum256([]byte(strings.Join(parts, "\x00"))) }
