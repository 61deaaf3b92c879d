package insight

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/core/insight"
	"tocsin/internal/incident"
)

// byResponder answers /insight/responder.
func byResponder(c *api.Call, in Request) (api.Items[Responder], error) {
	return sourceOf(c).responders(in)
}

// responders computes a row for each person who was responsible or notified, of those that the filter names.
func (s source) responders(in Request) (reply api.Items[Responder], err error) {
	q, err := open(s.ctx, s.tx, s.who, s.now, in.Filter)
	if err != nil {
		return reply, err
	}
	sums := totals{}
	err = q.walk(func(i *incident.Incident, f *insight.Figures) error {
		k := q.part(in.Divided, i)
		for n := range f.Persons {
			p := &f.Persons[n]
			if len(in.ResponderIDs) > 0 && !slices.Contains(in.ResponderIDs, p.ID) {
				continue
			}
			k.id = p.ID
			sums.of(k).AddPerson(p)
		}
		return nil
	})
	if err != nil {
		return reply, err
	}
	reply.Items = []Responder{}
	for _, k := range sums.order() {
		p, err := q.person(k.id)
		if err != nil {
			return reply, err
		}
		row := Row{ResponderID: k.id, ResponderName: p.PersonName, Email: p.Email, TS: k.ts, Hours: k.hours}
		reply.Items = append(reply.Items, Responder{row, handled(sums[k])})
	}
	return reply, nil
}
