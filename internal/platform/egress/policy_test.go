package egress

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestAddressesThatMayBeDialled(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"127.0.0.1": "loopback", "127.9.9.9": "loopback", "::1": "loopback", "::ffff:127.0.0.1": "loopback", "64:ff9b::7f00:1": "loopback", "2002:7f00:1::": "loopback",
		"::7f00:1": "loopback", "::ffff:0:7f00:1": "loopback",
		"169.254.169.254": "link-local", "fe80::1%eth0": "link-local", "64:ff9b::a9fe:a9fe": "link-local", "2002:a9fe:a9fe::1": "link-local",
		"0.0.0.0": "nobody", "0.1.2.3": "nobody", "::": "nobody",
		"224.0.0.1": "link-local", "239.1.1.1": "many", "255.255.255.255": "many", "ff02::1": "link-local", "ff0e::1": "many", "2001:0:1::": "tunnel", "64:ff9b:1::a00:1": "tunnel",
		"100.100.100.200": "cloud", "fd00:ec2::254": "cloud", "fd20:ce::254": "cloud", "168.63.129.16": "cloud", "192.0.0.192": "cloud", "64:ff9b::6464:64c8": "cloud",
		"10.1.2.3": "", "172.16.0.1": "", "192.168.0.1": "", "100.64.0.1": "", "fd00::1": "", "93.184.215.14": "", "2606:2800:21f::1": "",
	} {
		err := Policy{}.check(netip.MustParseAddr(address))
		got := ""
		if err != nil {
			got = err.Error()
		}
		want = strings.Replace(want, "nobody", "not the address of a host", 1)
		if (err == nil) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	strict := Policy{RefusePrivate: true, Allow: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/16"), netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("fd00:ec2::254/128")}}
	for address, ok := range map[string]bool{
		"10.1.2.3": false, "172.31.255.255": false, "192.168.1.1": false, "fd00::1": false, "fec0::1": false, "100.64.0.1": false, "::ffff:10.1.2.3": false, "64:ff9b::a01:203": false,
		"10.9.2.3": true, "::ffff:10.9.2.3": true, "64:ff9b::a09:203": true, "127.0.0.1": true, "127.0.0.2": false, "fd00:ec2::254": true, "fd00:ec2::23": false, "172.32.0.1": true,
	} {
		if err := strict.check(netip.MustParseAddr(address)); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	if strict.permit(context.Background(), "udp4", "8.8.8.8:53", nil) == nil || strict.permit(context.Background(), "tcp4", "8.8.8.8", nil) == nil {
		t.Error("what is no TCP, or no address, may be dialled")
	}
}

// The addresses of a name are checked, not the name: here a DNS server replies with addresses that must not be dialled.
func TestNamesOfForbiddenAddresses(t *testing.T) {
	t.Parallel()
	for address, why := range map[string]string{"10.1.2.3": "private", "127.0.0.1": "loopback", "169.254.169.254": "link-local"} {
		c := New(Policy{RefusePrivate: true})
		c.dialer.Resolver = nameServer(t, netip.MustParseAddr(address))
		_, err := c.Do(context.Background(), Request{URL: "http://chat.example.com/secret-in-the-path"})
		if phase(err) != Refused || !strings.Contains(err.Error(), address+" is") || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %s %v", address, phase(err), err)
		}
		if _, err := c.DialContext(context.Background(), "tcp", "mail.example.com:25"); phase(err) != Refused {
			t.Errorf("%s: %s %v", address, phase(err), err)
		}
	}
}

// nameServer starts a DNS server that returns one address for every name, and returns a resolver that asks it.
func nameServer(t *testing.T, address netip.Addr) *net.Resolver {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		question := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(question)
			if err != nil {
				return
			}
			conn.WriteTo(reply(question[:n], address), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// reply answers a question for A with the address, and one for anything else with nothing (RFC 1035, 4.1).
func reply(question []byte, address netip.Addr) []byte {
	end := 12
	for question[end] != 0 {
		end += int(question[end]) + 1
	}
	end += 5
	isA := question[end-4] == 0 && question[end-3] == 1
	r := append([]byte{question[0], question[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question[12:end]...)
	if isA {
		r[7] = 1
		r = append(r, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4)
		r = append(r, address.AsSlice()...)
	}
	return r
}

// While it is held, a client dials nothing, whatever else is permitted.
func TestHeldClientDialsNothing(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	held := "a copy"
	c := New(Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Held: func() string { return held }})
	if _, err := c.DialContext(context.Background(), "tcp", listener.Addr().String()); err == nil || !strings.Contains(err.Error(), "held and sends nothing: a copy") {
		t.Errorf("%v", err)
	}
	held = ""
	conn, err := c.DialContext(context.Background(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

// Under RefuseCloud no list of allowed networks opens what may serve the credentials of the machine.
func TestMetadataStaysRefused(t *testing.T) {
	t.Parallel()
	p := Policy{RefuseCloud: true, Allow: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}}
	for address, ok := range map[string]bool{
		"127.0.0.1": true, "::1": true, "10.1.2.3": true, "2606:2800:21f::1": true, "64:ff9b::a01:203": true,
		"169.254.169.254": false, "::ffff:169.254.169.254": false, "64:ff9b::a9fe:a9fe": false, "2002:a9fe:a9fe::1": false, "::a9fe:a9fe": false, "fe80::1%eth0": false,
		"fd00:ec2::254": false, "fd20:ce::254": false, "168.63.129.16": false, "100.100.100.200": false, "192.0.0.192": false, "64:ff9b:1::a9fe:a9fe": false, "2001:0:1::": false,
	} {
		if err := p.check(netip.MustParseAddr(address)); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}
