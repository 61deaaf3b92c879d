package egress

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
)

// notPublic lists the blocks that no request may reach under RefusePrivate: those of IANA's special-purpose registries
// (IPv4: RFC 6890 and its updates; IPv6: the same) that are not globally reachable, multicast, and blocks that were
// withdrawn but are still routed in some networks.
var notPublic = []string{
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
	"192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32",
	"168.63.129.16/32", // metadata of a cloud
	"::1/128", "::/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001:2::/48", "2001:db8::/32", "3fff::/20", "5f00::/16",
	"fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
}

// within lists the globally reachable blocks of the registries that lie in blocks that are not.
var within = []string{"192.0.0.9/32", "192.0.0.10/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:3::/32", "2001:4:112::/48", "2001:20::/28", "2001:30::/28"}

// carried lists the IPv6 blocks whose addresses embed an IPv4 address, and at which byte.
var carried = map[string]int{"64:ff9b::/96": 12, "2002::/16": 2, "::ffff:0:0:0/96": 12, "::/96": 12}

// public is the naive model: it reports whether an address may be reached under RefusePrivate.
func public(ip net.IP) bool {
	in := func(list []string) bool {
		for _, block := range list {
			_, n, err := net.ParseCIDR(block)
			if err != nil {
				panic(err)
			}
			if (len(n.IP) == 4) == (ip.To4() != nil) && n.Contains(ip) {
				return true
			}
		}
		return false
	}
	if in(notPublic) && !in(within) {
		return false
	}
	for block, at := range carried {
		if ip.To4() == nil && in([]string{block}) && !public(net.IP(ip[at:at+4])) {
			return false
		}
	}
	return true
}

// Under RefusePrivate an address may be reached exactly when the naive model reports it as public: at both ends of every
// block, beside them, in the middle, at random, and embedded in each form of IPv6 that holds an IPv4 address.
func TestPublicAddressesAreThoseOfRegistries(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	strict := Policy{RefusePrivate: true}
	ask := func(ip net.IP) {
		addr, ok := netip.AddrFromSlice(ip)
		if !ok {
			t.Fatal(ip)
		}
		if got, want := strict.check(addr) == nil, public(ip); got != want {
			t.Errorf("%s may be reached: %v, want %v (%v)", addr, got, want, strict.check(addr))
		}
	}
	everywhere := func(ip net.IP) {
		ask(ip)
		if v4 := ip.To4(); v4 != nil {
			ask(v4.To16()) // mapped
			for block, at := range carried {
				_, n, _ := net.ParseCIDR(block)
				ip := append(net.IP{}, n.IP.To16()...)
				copy(ip[at:], v4)
				ask(ip)
			}
		}
	}
	for _, list := range [][]string{notPublic, within, {"8.8.8.8/32", "2606:4700::/32", "192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24", "2620:4f:8000::/48", "64:ff9b::/96", "2002::/16"}} {
		for _, block := range list {
			_, n, _ := net.ParseCIDR(block)
			first, last := append(net.IP{}, n.IP...), append(net.IP{}, n.IP...)
			for i := range last {
				last[i] |= ^n.Mask[i]
			}
			for _, ip := range []net.IP{first, last, beside(first, -1), beside(last, 1)} {
				everywhere(ip)
			}
			for range 50 {
				ip := append(net.IP{}, first...)
				for i := range ip {
					ip[i] |= byte(random.Uint32()) & ^n.Mask[i]
				}
				everywhere(ip)
			}
		}
	}
	for n := range 20_000 {
		ip := make(net.IP, 4+12*(n%2))
		for i := range ip {
			ip[i] = byte(random.Uint32())
		}
		everywhere(ip)
	}
}

// beside returns the address before or after one.
func beside(ip net.IP, step int) net.IP {
	next := append(net.IP{}, ip...)
	for i := len(next) - 1; i >= 0; i-- {
		sum := int(next[i]) + step
		next[i] = byte(sum)
		if sum >= 0 && sum <= 255 {
			break
		}
	}
	return next
}
