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
	t.Parallel()
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

func TestLinksExpireAfterWeek(t *testing.T) {
	t.Parallel()
	link := token(links, 1, incidentID, 2, start)
	for after, want := range map[time.Duration]error{0: nil, 7 * 24 * time.Hour: nil, 7*24*time.Hour + time.Second: notify.ErrExpired, 10 * 365 * 24 * time.Hour: notify.ErrExpired, -time.Hour: nil} {
		if _, err := links.Redeem(link, start.Add(after)); !errors.Is(err, want) {
			t.Errorf("after %v: %v, want %v", after, err, want)
		}
	}
}

// No character of a link can be changed: not for another incident, person or account, nor to extend its validity.
func TestLinksCannotBeForged(t *testing.T) {
	t.Parallel()
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

// A link that answers a request for cover is not taken for one that acknowledges, nor the other way round, and lasts as long
// as the request.
func TestLinksAreBoundToTheirPurpose(t *testing.T) {
	t.Parallel()
	until := start.Add(time.Hour)
	cover := strings.TrimPrefix(links.Cover(1, 5789640530777, 2, until.Unix()), links.Base+"/cover/")
	if got, err := links.RedeemCover(cover, until); err != nil || got != (notify.Ticket{Account: 1, Request: 5789640530777, Person: 2}) {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := links.RedeemCover(cover, until.Add(time.Second)); !errors.Is(err, notify.ErrExpired) {
		t.Error(err)
	}
	if got, err := links.Redeem(cover, start); !errors.Is(err, notify.ErrForged) || got != (notify.Ticket{}) {
		t.Errorf("it acknowledges %+v %v", got, err)
	}
	if got, err := links.RedeemCover(token(links, 1, incidentID, 2, start), start); !errors.Is(err, notify.ErrForged) || got != (notify.Ticket{}) {
		t.Errorf("it covers %+v %v", got, err)
	}
	if _, err := links.RedeemCover(cover[:len(cover)-2]+"AA", start); !errors.Is(err, notify.ErrForged) {
		t.Error(err)
	}
}

func TestNoLinksWithoutPublicURL(t *testing.T) {
	t.Parallel()
	if link := (&notify.Links{Key: links.Key}).Ack(1, incidentID, 2, start); link != "" {
		t.Error(link)
	}
	if link := (&notify.Links{Key: links.Key}).Cover(1, 3, 2, start.Unix()); link != "" {
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
