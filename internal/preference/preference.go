package preference

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/core/sentence"
	"tocsin/internal/person"
	"tocsin/internal/platform/fault"
)

// Whose is embedded in requests about the preferences of one person.
type Whose struct {
	PersonID int64 `json:"person_id,omitzero" minimum:"1" doc:"The person; absent: the caller."`
}

// person returns the person of the request. Only the account's owner may name another person.
func (w Whose) person(c *api.Call) (int64, error) {
	if w.PersonID == 0 || w.PersonID == c.Who.PersonID {
		return c.Who.PersonID, nil
	}
	if !c.Who.Owner {
		return 0, fault.Denied("only the account's owner may see or change the preference of others")
	}
	return w.PersonID, person.Table.Need(c.Tx, c.Who.AccountID, "person_id", w.PersonID)
}

// InfoRequest names the person whose preference is shown.
type InfoRequest struct{ Whose }

func (r *Service) info(c *api.Call, in InfoRequest) (Preference, error) {
	person, err := in.person(c)
	if err != nil {
		return Preference{}, err
	}
	p, err := Of(c.Tx, c.Who.AccountID, person)
	if err != nil {
		return p, err
	}
	return r.show(c, p)
}

// show returns a preference with its contacts, or without them for a caller who may not see them.
func (r *Service) show(c *api.Call, p Preference) (Preference, error) {
	var err error
	if p.PersonID == c.Who.PersonID && (!c.Who.Narrowed || c.Who.May(auth.MembersManage)) {
		err = Kind.Show(r.Keyring, c.Who.AccountID, &p, c.Report)
	} else {
		err = Kind.Blank(&p)
	}
	return p.filled(), err
}

// UpdateRequest is what changes of a preference. An absent member stays as it is.
type UpdateRequest struct {
	Whose
	Trigger    *Trigger           `json:"trigger_notify,omitzero" doc:"Methods of notification about incidents, by severity."`
	Shift      *Shift             `json:"schedule_shift_notify,omitzero" doc:"Methods of notification about shifts."`
	StatusPage *StatusPage        `json:"status_change_notify,omitzero" doc:"Stored as sent."`
	QuietHours *[]Quiet           `json:"quiet_hours,omitzero" maxItems:"20" doc:"When notifications wait."`
	Contacts   *map[string]string `json:"contacts,omitzero" maxProperties:"50" maxLength:"2048" secret:"url" doc:"The person's addresses for other methods; an empty text deletes one."`
}

// Updated is the reply to /preference/update.
type Updated struct {
	Preference
	api.Warnings
}

func (r *Service) update(c *api.Call, in UpdateRequest) (reply Updated, err error) {
	person, err := in.person(c)
	if err != nil {
		return reply, err
	}
	if in.Contacts != nil && c.Who.Narrowed && c.Who.Owner && person == c.Who.PersonID {
		return reply, fault.Denied("this key is narrowed and cannot change the contacts of the account's owner")
	}
	p, err := Of(c.Tx, c.Who.AccountID, person)
	if err != nil {
		return reply, err
	}
	if err := Kind.Show(r.Keyring, c.Who.AccountID, &p, c.Report); err != nil {
		return reply, err
	}
	configstore.SetIfSent(&p.Trigger, in.Trigger)
	configstore.SetIfSent(&p.Shift, in.Shift)
	configstore.SetIfSent(&p.StatusPage, in.StatusPage)
	configstore.SetIfSent(&p.QuietHours, in.QuietHours)
	if in.Contacts != nil {
		all := maps.Clone(p.Contacts)
		if all == nil {
			all = map[string]string{}
		}
		for _, method := range slices.Sorted(maps.Keys(*in.Contacts)) {
			all[method] = (*in.Contacts)[method]
			if all[method] == "" {
				delete(all, method)
			}
		}
		p.Contacts = all
	}
	p.UpdatedAt = c.Unix()
	if err := p.check(""); err != nil {
		return reply, err
	}
	reply.Warnings = api.Warn(p.warnings())
	reply.Preference = p.filled()
	if err := Kind.Seal(r.Keyring, c.Who.AccountID, &p); err != nil {
		return reply, err
	}
	if err := Kind.Put(c.Tx, c.Who.AccountID, &p); err != nil {
		return reply, err
	}
	c.Touched(configstore.Preference, person, "")
	if person != c.Who.PersonID {
		reply.Preference, err = r.show(c, p)
	}
	return reply, err
}

// withoutContact matches the methods that need no contact of the person.
var withoutContact = regexp.MustCompile(`\A(email|sms|voice|push|(feishu|dingtalk|wecom|slack|teams)_app(:.+)?)\z`)

// methods calls fn with every method of the preference and its path.
func (p *Preference) methods(fn func(list string, index int, method string)) {
	for _, list := range []struct {
		name    string
		methods []string
	}{
		{"trigger_notify.critical", p.Trigger.Critical}, {"trigger_notify.warning", p.Trigger.Warning}, {"trigger_notify.info", p.Trigger.Info},
		{"schedule_shift_notify.personal_channels", p.Shift.PersonalChannels},
	} {
		for i, method := range list.methods {
			fn(list.name, i, method)
		}
	}
}

// warnings lists the methods that cannot reach the person, and quiet hours that hold Critical.
func (p *Preference) warnings() (all []sentence.Value) {
	p.methods(func(list string, i int, method string) {
		if !withoutContact.MatchString(method) && p.Contacts[method] == "" {
			all = append(all, sentence.New("w_no_contact", fmt.Sprintf("%s[%d]", list, i), method))
		}
	})
	if p.HoldsCritical() {
		all = append(all, sentence.New("w_quiet"))
	}
	return all
}

// filled returns the preference with empty lists in place of null.
func (p Preference) filled() Preference {
	for _, list := range []*[]string{&p.Trigger.Critical, &p.Trigger.Warning, &p.Trigger.Info, &p.Shift.PersonalChannels,
		&p.StatusPage.IMIntegrations} {
		if *list == nil {
			*list = []string{}
		}
	}
	return p
}
