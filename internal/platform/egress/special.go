package egress

import "net/netip"

// reach is whether the addresses of a block may be dialled.
type reach uint8

const (
	never   reach = iota // only if Policy.Allow has the address
	local                // as never: what may be the metadata service of a cloud; not at all under Policy.RefuseCloud
	private              // not under Policy.RefusePrivate
	global
)

// block is a block of special addresses.
type block struct {
	prefix netip.Prefix
	reach  reach
	is     string // completes "203.0.113.7 is ..."
}

// special lists the blocks of IANA's registries of special-purpose addresses (IPv4 and IPv6), multicast, blocks that
// were withdrawn but are still routed in some networks, and the metadata services of clouds, which serve the
// credentials of their machines. Of the blocks that contain an address, the smallest counts. A globally reachable block
// is listed only inside a block that is not. IPv6 blocks that embed an IPv4 address are in carriers.
var special = blocks(map[string]block{
	// IPv4: https://www.iana.org/assignments/iana-ipv4-special-registry
	"0.0.0.0/8":          {reach: never, is: "not the address of a host (this network)"},
	"10.0.0.0/8":         {reach: private, is: "private"},
	"100.64.0.0/10":      {reach: private, is: "private (shared address space of carriers)"},
	"127.0.0.0/8":        {reach: never, is: "this machine (loopback)"},
	"169.254.0.0/16":     {reach: local, is: "link-local"},
	"172.16.0.0/12":      {reach: private, is: "private"},
	"192.0.0.0/24":       {reach: private, is: "reserved (IETF protocol assignments)"},
	"192.0.0.9/32":       {reach: global, is: "PCP anycast"},
	"192.0.0.10/32":      {reach: global, is: "TURN anycast"},
	"192.0.2.0/24":       {reach: private, is: "reserved (documentation, TEST-NET-1)"},
	"192.88.99.0/24":     {reach: private, is: "reserved (6to4 relay anycast, withdrawn)"},
	"192.168.0.0/16":     {reach: private, is: "private"},
	"198.18.0.0/15":      {reach: private, is: "reserved (benchmarking)"},
	"198.51.100.0/24":    {reach: private, is: "reserved (documentation, TEST-NET-2)"},
	"203.0.113.0/24":     {reach: private, is: "reserved (documentation, TEST-NET-3)"},
	"224.0.0.0/4":        {reach: never, is: "for many (multicast)"},
	"224.0.0.0/24":       {reach: never, is: "link-local (multicast)"},
	"240.0.0.0/4":        {reach: private, is: "reserved (future use)"},
	"255.255.255.255/32": {reach: never, is: "for many (broadcast)"},

	// IPv6: https://www.iana.org/assignments/iana-ipv6-special-registry
	"::/128":           {reach: never, is: "not the address of a host (unspecified)"},
	"::1/128":          {reach: never, is: "this machine (loopback)"},
	"64:ff9b:1::/48":   {reach: local, is: "a tunnel (local-use NAT64, whose form is not known)"},
	"100::/64":         {reach: private, is: "reserved (discard-only)"},
	"100:0:0:1::/64":   {reach: private, is: "reserved (dummy prefix)"},
	"2001::/23":        {reach: private, is: "reserved (IETF protocol assignments)"},
	"2001::/32":        {reach: local, is: "a tunnel (Teredo, whose end is scrambled)"},
	"2001:1::1/128":    {reach: global, is: "PCP anycast"},
	"2001:1::2/128":    {reach: global, is: "TURN anycast"},
	"2001:1::3/128":    {reach: global, is: "DNS-SD SRP anycast"},
	"2001:2::/48":      {reach: private, is: "reserved (benchmarking)"},
	"2001:3::/32":      {reach: global, is: "AMT"},
	"2001:4:112::/48":  {reach: global, is: "AS112"},
	"2001:10::/28":     {reach: private, is: "reserved (ORCHID, withdrawn)"},
	"2001:20::/28":     {reach: global, is: "ORCHIDv2"},
	"2001:30::/28":     {reach: global, is: "drone remote ID"},
	"2001:db8::/32":    {reach: private, is: "reserved (documentation)"},
	"3fff::/20":        {reach: private, is: "reserved (documentation)"},
	"5f00::/16":        {reach: private, is: "reserved (segment routing)"},
	"fc00::/7":         {reach: private, is: "private (unique local)"},
	"fe80::/10":        {reach: local, is: "link-local"},
	"fec0::/10":        {reach: private, is: "private (site-local, withdrawn)"},
	"ff00::/8":         {reach: never, is: "for many (multicast)"},
	"ff01::/16":        {reach: never, is: "link-local (multicast of this interface)"},
	"ff02::/16":        {reach: never, is: "link-local (multicast)"},
	"fd00:ec2::/32":    {reach: local, is: "a cloud's metadata (Amazon)"},
	"fd20:ce::254/128": {reach: local, is: "a cloud's metadata (Google)"},

	"168.63.129.16/32":   {reach: local, is: "a cloud's metadata (Azure)"},
	"100.100.100.200/32": {reach: local, is: "a cloud's metadata (Alibaba)"},
	"192.0.0.192/32":     {reach: local, is: "a cloud's metadata (Oracle)"},
})

// blocks returns the blocks with their prefixes set.
func blocks(byPrefix map[string]block) (all []block) {
	for text, b := range byPrefix {
		b.prefix = netip.MustParsePrefix(text)
		all = append(all, b)
	}
	return all
}

// blockOf returns the smallest special block that contains an address, a globally reachable one if none does.
func blockOf(addr netip.Addr) block {
	found := block{reach: global}
	for _, b := range special {
		if b.prefix.Contains(addr) && (!found.prefix.IsValid() || b.prefix.Bits() > found.prefix.Bits()) {
			found = b
		}
	}
	return found
}

// carriers lists the IPv6 blocks whose addresses embed an IPv4 address, and the byte at which that begins.
var carriers = []struct {
	netip.Prefix
	at int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // translated
	{netip.MustParsePrefix("::/96"), 12},           // compatible
}

// cloud returns what an address is that may be the metadata service of a cloud, or that leads to one; empty: it is another.
func cloud(addr netip.Addr) string {
	if b := blockOf(addr); b.reach == local {
		return b.is
	}
	for _, carrier := range carriers {
		if carrier.Contains(addr) {
			b := addr.As16()
			return cloud(netip.AddrFrom4([4]byte(b[carrier.at:])))
		}
	}
	return ""
}
