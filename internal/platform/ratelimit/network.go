package ratelimit

import "net/netip"

// Network returns the key under which requests from a client address are
// counted: the address itself for IPv4, also when written as IPv6, and the /64
// for IPv6, since a subscriber commonly has a whole /64 to pick addresses
// from. All invalid addresses share one key.
func Network(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	length := 32
	if addr.Is6() {
		length = 64
	}
	network, err := addr.Prefix(length)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}
