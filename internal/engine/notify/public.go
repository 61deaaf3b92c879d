package notify

import (
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/channel"
	"tocsin/internal/core/render"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// addPublic adds what only the names of the public template language show.
func addPublic(tx *db.Tx, about *render.Incident, n *Notification, i *incident.Incident, ch *channel.Channel, now time.Time) (err error) {
	about.Now = now.Unix()
	about.LastTime = i.LastTime
	about.SnoozedBefore = i.SnoozedBefore
	about.AccountTimeZone = about.TimeZone
	about.ChannelID = i.ChannelID
	about.GroupMethod = i.GroupMethod
	about.Impact = i.Impact
	about.RootCause = i.RootCause
	about.Resolution = i.Resolution
	about.FireTimes, about.IsInStorm = int64(n.Detail.Repeat)+1, len(i.Storms) > 0
	f := ch.Flaps()
	about.Flapping = render.Flapping{MaxChanges: f.Max, InMinutes: f.In / 60, MuteMinutes: f.Mute / 60}
	if f := i.Flapping; f != nil {
		about.IsFlapping, about.Note = true, f.Words().English()
		about.Flapping = render.Flapping{MaxChanges: f.MaxChanges, InMinutes: f.InMins, MuteMinutes: f.MuteMins}
	}
	if a := i.AssignedTo; a != nil {
		about.AssignedTo = render.Assignment{
			PersonIDs: a.PersonIDs, EscalateRuleID: a.EscalateRuleID, EscalateRuleName: a.EscalateRuleName,
			LayerIdx: a.LayerIdx, Type: a.Type,
		}
	}
	for _, image := range i.Images {
		about.Images = append(about.Images, render.Image{Src: image.Src, Href: image.Href, Alt: image.Alt})
	}
	about.Fields = make(map[string]any, len(i.Fields))
	for name, stored := range i.Fields {
		var value any
		if json.Unmarshal(stored, &value) == nil { // a field that cannot be read must not stop the message
			about.Fields[name] = value
		}
	}
	about.Creator, err = actor(tx, n.Account, i.CreatorID)
	if err != nil {
		return err
	}
	about.Closer, err = actor(tx, n.Account, i.CloserID)
	if err != nil {
		return err
	}
	about.Owner, err = actor(tx, n.Account, i.OwnerID)
	return err
}

// actor returns a person who did something; nil for no person, and for one who has left.
func actor(tx *db.Tx, account, id int64) (*render.Actor, error) {
	if id == 0 {
		return nil, nil
	}
	p, found, err := Find(tx, account, id)
	if err != nil || !found {
		return nil, err
	}
	return &render.Actor{Person: render.Person{ID: p.ID, Name: p.Name, Email: p.Email}}, nil
}

// responder returns a responsible person, with when it was assigned and when it acknowledged the incident.
func responder(i *incident.Incident, p Person) render.Person {
	r := render.Person{ID: p.ID, Name: p.Name, Email: p.Email}
	for _, a := range i.Assignments {
		if a.PersonID == p.ID && a.RemovedAt == 0 {
			r.AssignedAt, r.AcknowledgedAt = a.AssignedAt, a.AcknowledgedAt
		}
	}
	return r
}
