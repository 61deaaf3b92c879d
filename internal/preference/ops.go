package preference

import (
	"embed"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Service keeps preferences.
type Service struct {
	Keyring *secret.Keyring // seals contacts: an incoming webhook's address is a secret
}

// Ops is the room's table of contents.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:     "/preference/info",
			Narrowed: []auth.Permission{auth.MembersRead},
			Effect:   api.Snapshot,
			Doc:      "Shows how the caller wants to be told.",
			Notes: "The account's owner may ask for others with person_id; contacts are shown to their owner alone, and to a narrowed key " +
				"only with Members Manage (org).",
			Example: `{}`,
			Do:      api.Do(r.info),
		},
		{
			Path:     "/preference/update",
			Narrowed: []auth.Permission{auth.MembersManage},
			Effect:   api.Write,
			Audit:    "preference:write:update",
			Doc:      "Says how the caller wants to be told.",
			Notes: "Members that are left out stay as they are. The account's owner may do it for others with person_id. The owner's own " +
				"contacts are changed with a key that is not narrowed.",
			Example: `{"trigger_notify": {"critical": ["sms", "email"], "warning": ["email"], "info": ["email"]}, "quiet_hours": [{"start": "22:00", "end": "07:00"}]}`,
			Do:      api.Do(r.update),
		},
	})
}

// Whose is embedded in requests that are about one person.
type Whose struct {
	PersonID int64 `json:"person_id,omitzero" minimum:"1" doc:"Whose; absent: the caller's own."`
}

// person is whose preference is meant, if the caller may.
func (w Whose) person(c *api.Call) (int64, error) {
	if w.PersonID == 0 || w.PersonID == c.Who.PersonID {
		return c.Who.PersonID, nil
	}
	if !c.Who.Owner {
		return 0, fault.Denied("only the account's owner may see or change the preference of others")
	}
	return w.PersonID, configstore.Need(c.Tx, c.Who.AccountID, "person_id", configstore.RefTo(configstore.Person, w.PersonID))
}

func (r *Service) info(c *api.Call, in struct{ Whose }) (Preference, error) {
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

func (r *Service) show(c *api.Call, p Preference) (Preference, error) {
	var err error
	if p.PersonID == c.Who.PersonID && (!c.Who.Narrowed || c.Who.May(auth.MembersManage)) {
		err = Kind.Show(r.Keyring, c.Who.AccountID, &p, c.Report)
	} else {
		err = Kind.Blank(&p)
	}
	return p.filled(), err
}

type updateRequest struct {
	Whose
	Trigger    *Trigger           `json:"trigger_notify,omitzero" doc:"Ways to tell of incidents, by severity."`
	Shift      *Shift             `json:"schedule_shift_notify,omitzero" doc:"Ways to tell of turns on call."`
	StatusPage *StatusPage        `json:"status_change_notify,omitzero" doc:"Kept as sent."`
	QuietHours *[]Quiet           `json:"quiet_hours,omitzero" maxItems:"20" doc:"When notices wait."`
	Contacts   *map[string]string `json:"contacts,omitzero" maxProperties:"50" maxLength:"2048" doc:"Where the person is reached over other ways; an empty text takes one away."`
}

// Updated is the reply to /preference/update.
type Updated struct {
	Preference
	api.Warnings
}

func (r *Service) update(c *api.Call, in updateRequest) (reply Updated, err error) {
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
	set(&p.Trigger, in.Trigger)
	set(&p.Shift, in.Shift)
	set(&p.StatusPage, in.StatusPage)
	set(&p.QuietHours, in.QuietHours)
	if in.Contacts != nil {
		all := maps.Clone(p.Contacts)
		if all == nil {
			all = map[string]string{}
		}
		for _, method := range slices.Sorted(maps.Keys(*in.Contacts)) {
			if all[method] = (*in.Contacts)[method]; all[method] == "" {
				delete(all, method)
			}
		}
		p.Contacts = all
	}
	p.UpdatedAt = c.Unix()
	if err := p.check(""); err != nil {
		return reply, err
	}
	reply.Warnings.Warnings = p.warnings()
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

// ready are the ways that need no contact of the person's own.
var ready = regexp.MustCompile(`\A(email|sms|voice|(feishu|dingtalk|wecom|slack|teams)_app(:.+)?)\z`)

// warnings names the ways over which nothing can reach the person.
func (p *Preference) warnings() (all []string) {
	for _, list := range []struct {
		name    string
		methods []string
	}{
		{"trigger_notify.critical", p.Trigger.Critical}, {"trigger_notify.warning", p.Trigger.Warning}, {"trigger_notify.info", p.Trigger.Info},
		{"schedule_shift_notify.personal_channels", p.Shift.PersonalChannels},
	} {
		for i, method := range list.methods {
			if !ready.MatchString(method) && p.Contacts[method] == "" {
				all = append(all, fmt.Sprintf("%s[%d] is %.60q, for which contacts has nothing: nothing is told over it", list.name, i, method))
			}
		}
	}
	return all
}

// filled has lists in place of those that are not set.
func (p Preference) filled() Preference {
	for _, list := range []*[]string{&p.Trigger.Critical, &p.Trigger.Warning, &p.Trigger.Info, &p.Shift.PersonalChannels,
		&p.StatusPage.IMIntegrations} {
		if *list == nil {
			*list = []string{}
		}
	}
	return p
}

func set[T any](member *T, said *T) {
	if said != nil {
		*member = *said
	}
}
