package incident

import (
	"strings"

	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
)

// Some names incidents. An operation applies to all of them or to none.
type Some struct {
	IncidentIDs []string `json:"incident_ids" minItems:"1" maxItems:"100" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Incidents, at most 100, of 24 hexadecimal digits each."`
}

// ids returns the incidents in lower case, each once, in the order of the request.
func (s Some) ids() (ids []string) {
	seen := map[string]bool{}
	for _, id := range s.IncidentIDs {
		id = strings.ToLower(id)
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// writer returns the Writer of a call: its transaction, account, time and person.
func (r *Service) writer(c *api.Call) Writer {
	return Writer{Tx: c.Tx, Bus: r.Bus, Account: c.Who.AccountID, Now: c.Now, Person: c.Who.PersonID}
}

// each calls fn for each incident. The caller must be permitted to read all of them; the first error ends the call, and
// the transaction with it, so that no incident is changed alone.
func (r *Service) each(c *api.Call, ids []string, fn func(Writer, *Incident) error) (api.Empty, error) {
	for _, id := range ids {
		i, err := Permit(c.Tx, c.Who, id)
		if err != nil {
			return api.Empty{}, err
		}
		name, err := i.NameNow(c.Tx)
		if err != nil {
			return api.Empty{}, err
		}
		if err := fn(r.writer(c), &i); err != nil {
			return api.Empty{}, err
		}
		c.Touched("incident", i.IncidentID, name)
	}
	return api.Empty{}, nil
}

// Touched records that the call changed the incident, under the name that people read.
func Touched(c *api.Call, i *Incident) error {
	name, err := i.NameNow(c.Tx)
	c.Touched("incident", i.IncidentID, name)
	return err
}

func (r *Service) info(c *api.Call, in OneRequest) (View, error) {
	i, err := Permit(c.Tx, c.Who, in.IncidentID)
	if err != nil {
		return View{}, err
	}
	return Show(c.Tx, r.PublicURL, &i)
}

// listByIDs fails as a whole when one of the incidents does not exist.
func (r *Service) listByIDs(c *api.Call, in Some) (api.Paged[View], error) {
	ids := in.ids()
	read, err := findAll(c.Tx, c.Who.AccountID, ids)
	if err != nil {
		return api.Paged[View]{}, err
	}
	all := make([]Incident, len(ids))
	for i, id := range ids {
		if read[id] == nil {
			return api.Paged[View]{}, fault.Missing("incident", id)
		}
		all[i] = *read[id]
		if err := all[i].permit(c.Tx, c.Who); err != nil {
			return api.Paged[View]{}, err
		}
	}
	onPage, bytes := 0, int64(0)
	for i := range all {
		if bytes += all[i].bytes(); bytes > api.PageBytes && i > 0 {
			break
		}
		onPage++
	}
	c.WarnShort(int64(onPage), int64(len(all)), "Ask for the others by their ids.")
	items, err := r.showPage(c.Tx, c.Who.AccountID, all[:onPage])
	return api.NewPaged(items, 0, int64(len(all))), err
}

// bytes returns about how long the incident is.
func (r *Incident) bytes() int64 {
	n := len(r.Title) + len(r.Description) + len(r.Impact) + len(r.RootCause) + len(r.Resolution)
	for name, value := range r.Labels {
		n += len(name) + len(value)
	}
	for name, value := range r.Fields {
		n += len(name) + len(value)
	}
	for _, image := range r.Images {
		n += len(image.Src) + len(image.Href) + len(image.Alt)
	}
	return int64(n)
}

func (r *Service) ack(c *api.Call, in Some) (api.Empty, error) {
	return r.each(c, in.ids(), Writer.Ack)
}
func (r *Service) unack(c *api.Call, in Some) (api.Empty, error) {
	return r.each(c, in.ids(), Writer.Unack)
}
func (r *Service) wake(c *api.Call, in Some) (api.Empty, error) {
	return r.each(c, in.ids(), Writer.Wake)
}

// SnoozeRequest asks that no notification is sent for a time.
type SnoozeRequest struct {
	Some
	Minutes int64 `json:"minutes" minimum:"1" maximum:"1440" doc:"For how many minutes no notification is sent."`
}

func (r *Service) snooze(c *api.Call, in SnoozeRequest) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Writer, i *Incident) error { return d.Snooze(i, in.Minutes) })
}

// ReopenRequest asks to open closed incidents again.
type ReopenRequest struct {
	Some
	Reason string `json:"reason,omitzero" maxLength:"1024" doc:"Why, for the feed."`
}

func (r *Service) reopen(c *api.Call, in ReopenRequest) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Writer, i *Incident) error { return d.Reopen(i, in.Reason) })
}

// CommentRequest has a comment on incidents.
type CommentRequest struct {
	Some
	Comment   string `json:"comment" minLength:"1" maxLength:"1024" doc:"The text of the comment."`
	MuteReply bool   `json:"mute_reply,omitzero" doc:"Kept in the feed as sent."`
}

func (r *Service) comment(c *api.Call, in CommentRequest) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Writer, i *Incident) error {
		return d.publish(i, activity.Commented{Comment: in.Comment, MuteReply: in.MuteReply})
	})
}

func (r *Service) disableMerge(c *api.Call, in Some) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Writer, i *Incident) error {
		i.GroupKey = ""
		return d.save(i)
	})
}
