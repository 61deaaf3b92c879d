package outbound

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// Policy says which addresses may be dialled. Private networks may unless RefusePrivate is set, because the
// chats and mail servers of those who host this themselves are there; loopback, link-local, multicast and
// unspecified addresses, and those where clouds keep the credentials of their machines, may only when Allow
// has them.
type Policy struct {
	Allow         []netip.Prefix
	RefusePrivate bool
	Timeout       time.Duration // for the whole of a request that names none, and to connect; 10 s when 0
}

// permit is asked with the address that is about to be dialled, after names have been looked up.
func (p Policy) permit(_ context.Context, network, address string, _ syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return &refused{network + " is not permitted"}
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return &refused{"the address cannot be read"}
	}
	return p.check(at.Addr())
}

type refused struct{ why string }

func (r *refused) Error() string { return r.why }

// Ranges beyond those that netip knows by name.
var (
	shared  = netip.MustParsePrefix("100.64.0.0/10")  // carriers
	thisNet = netip.MustParsePrefix("0.0.0.0/8")      // this host
	broad   = netip.MustParseAddr("255.255.255.255")  // everybody
	teredo  = netip.MustParsePrefix("2001::/32")      // a tunnel, whose end is scrambled
	local64 = netip.MustParsePrefix("64:ff9b:1::/48") // NAT64 of a network's own, whose form is not known
	site    = netip.MustParsePrefix("fec0::/10")      // private, of an older kind
	clouds  = []netip.Prefix{                         // not link-local, as metadata mostly is
		netip.MustParsePrefix("fd00:ec2::/32"),      // Amazon
		netip.MustParsePrefix("fd20:ce::254/128"),   // Google
		netip.MustParsePrefix("168.63.129.16/32"),   // Azure
		netip.MustParsePrefix("100.100.100.200/32"), // Alibaba
		netip.MustParsePrefix("192.0.0.192/32"),     // Oracle
	}
)

// carriers are the ranges of IPv6 whose addresses lead to an IPv4 address, and the byte where that begins.
var carriers = []struct {
	netip.Prefix
	at int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // translated
	{netip.MustParsePrefix("::/96"), 12},           // compatible
}

// check gives a *refused when an address must not be dialled.
func (p Policy) check(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	for _, allowed := range p.Allow {
		if allowed.Contains(addr) {
			return nil
		}
	}
	for _, cloud := range clouds {
		if cloud.Contains(addr) {
			return &refused{addr.String() + " is a cloud's metadata"}
		}
	}
	switch {
	case addr.IsLoopback():
		return &refused{addr.String() + " is this machine (loopback)"}
	case addr.IsLinkLocalUnicast() || addr.IsLinkLocalMulticast() || addr.IsInterfaceLocalMulticast():
		return &refused{addr.String() + " is link-local"}
	case addr.IsUnspecified() || thisNet.Contains(addr):
		return &refused{addr.String() + " is no address of anybody"}
	case addr.IsMulticast() || addr == broad:
		return &refused{addr.String() + " is for many"}
	case teredo.Contains(addr) || local64.Contains(addr):
		return &refused{addr.String() + " is a tunnel"}
	case p.RefusePrivate && (addr.IsPrivate() || shared.Contains(addr) || site.Contains(addr)):
		return &refused{addr.String() + " is private"}
	}
	for _, carrier := range carriers {
		if carrier.Contains(addr) {
			b := addr.As16()
			if err := p.check(netip.AddrFrom4([4]byte(b[carrier.at:]))); err != nil {
				return &refused{fmt.Sprintf("%s leads to %v", addr, err)}
			}
		}
	}
	return nil
}
