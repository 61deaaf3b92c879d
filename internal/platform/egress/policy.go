package egress

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"tocsin/internal/core/sentence"
)

// Policy decides which addresses may be dialled. Private networks and other blocks that are not globally reachable may
// be dialled unless RefusePrivate is set, because self-hosted chats and mail servers are there. Loopback, link-local,
// multicast and unspecified addresses, and the metadata services of clouds, may be dialled only if Allow has them. The
// table is in special.go.
type Policy struct {
	Allow         []netip.Prefix
	Only          []netip.Prefix // nothing else is dialled; empty: what the rest permits
	RefusePrivate bool
	RefuseCloud   bool          // link-local addresses and metadata services are refused although Allow has them
	Timeout       time.Duration // of a request that sets none, and of connecting; 10 s when 0
	Held          func() string // why nothing at all is dialled now; empty, or nil: what is permitted is dialled
}

// permit is called with the address that is about to be dialled, after DNS: a name cannot change its address between
// the check and the connection.
func (p Policy) permit(_ context.Context, network, address string, _ syscall.RawConn) error {
	if p.Held != nil {
		if why := p.Held(); why != "" {
			return &refused{sentence.New("a_held", sentence.Raw(why))}
		}
	}
	if !strings.HasPrefix(network, "tcp") {
		return &refused{sentence.Raw(network + " is not permitted")}
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return &refused{sentence.New("a_unread")}
	}
	return p.check(at.Addr())
}

type refused struct{ why sentence.Value }

func (r *refused) Error() string { return r.why.English() }

// check returns a *refused error when an address must not be dialled.
func (p Policy) check(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	if is := cloud(addr); is != "" && p.RefuseCloud {
		return &refused{sentence.Raw(addr.String() + " is " + is)}
	}
	if len(p.Only) > 0 && !slices.ContainsFunc(p.Only, func(only netip.Prefix) bool { return only.Contains(addr) }) {
		return &refused{sentence.Raw(addr.String() + " is in none of the permitted networks")}
	}
	for _, allowed := range p.Allow {
		if allowed.Contains(addr) {
			return nil
		}
	}
	if b := blockOf(addr); b.reach <= local || b.reach == private && p.RefusePrivate {
		return &refused{sentence.Raw(addr.String() + " is " + b.is)}
	}
	for _, carrier := range carriers {
		if carrier.Contains(addr) {
			b := addr.As16()
			if err := p.check(netip.AddrFrom4([4]byte(b[carrier.at:]))); err != nil {
				return &refused{sentence.Raw(fmt.Sprintf("%s leads to %v", addr, err))}
			}
		}
	}
	return nil
}
