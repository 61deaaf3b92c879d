package incident

import (
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/news"
)

// Some names incidents. What is done about them is done about all or none.
type Some struct {
	IncidentIDs []string `json:"incident_ids" minItems:"1" maxItems:"100" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Incidents, at most 100, of 24 hexadecimal digits each."`
}

// ids are the incidents, each once, in the order of the request.
func (s Some) ids() (ids []string) {
	seen := map[string]bool{}
	for _, id := range s.IncidentIDs {
		if id = strings.ToLower(id); !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

func (r *Room) desk(c *api.Call) Desk {
	return Desk{Tx: c.Tx, Bus: r.Bus, Account: c.Who.AccountID, Now: c.Now, Person: c.Who.PersonID}
}

// each does something about each of some incidents that the caller may read.
func (r *Room) each(c *api.Call, ids []string, fn func(Desk, *Incident) error) (api.Empty, error) {
	for _, id := range ids {
		i, err := Permit(c.Tx, c.Who, id)
		if err != nil {
			return api.Empty{}, err
		}
		if err := fn(r.desk(c), &i); err != nil {
			return api.Empty{}, err
		}
		c.Touched("incident", i.IncidentID, i.Title)
	}
	return api.Empty{}, nil
}

func (r *Room) ack(c *api.Call, in Some) (api.Empty, error)   { return r.each(c, in.ids(), Desk.Ack) }
func (r *Room) unack(c *api.Call, in Some) (api.Empty, error) { return r.each(c, in.ids(), Desk.Unack) }
func (r *Room) wake(c *api.Call, in Some) (api.Empty, error)  { return r.each(c, in.ids(), Desk.Wake) }

type snoozeRequest struct {
	Some
	Minutes int64 `json:"minutes" minimum:"1" maximum:"1440" doc:"For how long nobody is told."`
}

func (r *Room) snooze(c *api.Call, in snoozeRequest) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Desk, i *Incident) error { return d.Snooze(i, in.Minutes) })
}

type resolveRequest struct {
	Some
	RootCause  string `json:"root_cause,omitzero" maxLength:"1024" doc:"Why it happened, for each of them."`
	Resolution string `json:"resolution,omitzero" maxLength:"1024" doc:"What helped, likewise."`
}

func (r *Room) resolve(c *api.Call, in resolveRequest) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Desk, i *Incident) error { return d.Resolve(i, in.RootCause, in.Resolution) })
}

type reopenRequest struct {
	Some
	Reason string `json:"reason,omitzero" maxLength:"1024" doc:"Why, for the feed."`
}

func (r *Room) reopen(c *api.Call, in reopenRequest) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Desk, i *Incident) error { return d.Reopen(i, in.Reason) })
}

type commentRequest struct {
	Some
	Comment   string `json:"comment" minLength:"1" maxLength:"1024" doc:"What to say."`
	MuteReply bool   `json:"mute_reply,omitzero" doc:"Kept in the feed as sent."`
}

func (r *Room) comment(c *api.Call, in commentRequest) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Desk, i *Incident) error {
		return d.publish(i, news.Commented{Comment: in.Comment, MuteReply: in.MuteReply})
	})
}

func (r *Room) disableMerge(c *api.Call, in Some) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Desk, i *Incident) error {
		i.GroupKey = ""
		return d.save(i)
	})
}
