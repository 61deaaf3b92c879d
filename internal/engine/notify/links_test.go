package notify_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/id"
)

var links = &notify.Links{Base: "https://tocsin.example.com", Key: []byte("the key of this server")}

const incidentID = "5e5e5e5e5e5e5e5e5e5e5e01"

func token(l *notify.Links, account int64, incident string, person int64, at time.Time) string {
	return strings.TrimPrefix(l.Ack(account, incident, person, at), l.Base+"/ack/")
}

func TestLinksNamePersonAndIncident(t *testing.T) {
	const seed = 20261123
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 1000 {
		want := notify.Ticket{Account: rng.Int64(), Incident: id.Object(start.Add(time.Duration(rng.IntN(1e9)))), Person: rng.Int64()}
		got, err := links.Redeem(token(links, want.Account, want.Incident, want.Person, start), start)
		if err != nil || got != want {
			t.Fatalf("seed %d: %+v (%v), want %+v", seed, got, err, want)
		}
	}
}

func TestLinksExpireAfterAWeek(t *testing.T) {
	link := token(links, 1, incidentID, 2, start)
	for after, want := range map[time.Duration]error{0: nil, 7 * 24 * time.Hour: nil, 7*24*time.Hour + time.Second: notify.ErrExpired, 10 * 365 * 24 * time.Hour: notify.ErrExpired, -time.Hour: nil} {
		if _, err := links.Redeem(link, start.Add(after)); !errors.Is(err, want) {
			t.Errorf("after %v: %v, want %v", after, err, want)
		}
	}
}

// No character of a link can be changed: not for another incident, person or account, nor to extend its validity.
func TestLinksCannotBeForged(t *testing.T) {
	link := token(links, 1, incidentID, 2, start)
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for n := range link {
		for _, c := range alphabet {
			forged := link[:n] + string(c) + link[n+1:]
			if _, err := links.Redeem(forged, start); forged != link && !errors.Is(err, notify.ErrForged) {
				t.Fatalf("%s is taken for %s: %v", forged, link, err)
			}
		}
	}
	other := token(links, 1, "5e5e5e5e5e5e5e5e5e5e5e02", 2, start)
	foreign := &notify.Links{Base: links.Base, Key: []byte("the key of another server")}
	for what, forged := range map[string]string{
		"nothing":              "",
		"a part":               link[:len(link)-4],
		"more":                 link + "AAAA",
		"the end of another":   link[:48] + other[48:],
		"the middle of one":    link[:10] + other[10:30] + link[30:],
		"another server's key": token(foreign, 1, incidentID, 2, start),
		"no key at all":        token(&notify.Links{Base: links.Base}, 1, incidentID, 2, start),
		"other signs":          strings.Repeat("%", len(link)),
	} {
		if _, err := links.Redeem(forged, start); !errors.Is(err, notify.ErrForged) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestNoLinksWithoutPublicURL(t *testing.T) {
	if link := (&notify.Links{Key: links.Key}).Ack(1, incidentID, 2, start); link != "" {
		t.Error(link)
	}
	if link := links.Ack(1, "no incident", 2, start); link != "" {
		t.Error(link)
	}
}

func FuzzRedeem(f *testing.F) {
	f.Add(token(links, 1, incidentID, 2, start))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		ticket, err := links.Redeem(text, start)
		if err == nil && ticket.Bundle == "" && token(links, ticket.Account, ticket.Incident, ticket.Person, start) != strings.TrimSpace(text) {
			t.Errorf("%q is taken for %+v", text, ticket)
		}
	})
}
