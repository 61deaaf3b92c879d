package signin

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/role"
	"tocsin/internal/team"
)

// known returns the person of the provider's claims, with the roles and teams that follow from these.
func (s *Service) known(ctx context.Context, c claims, from Client, now time.Time) (r person.Ref, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		r.AccountID, err = s.openIDAccount(tx)
		return err
	})
	if err != nil {
		return r, err
	}
	err = s.DB.WriteOf(ctx, r.AccountID, func(tx *db.Tx) (err error) {
		var found bool
		r.PersonID, found, err = credential.PersonOf(tx, r.AccountID, s.OpenID.Issuer, c.subject)
		if err != nil {
			return err
		}
		if found {
			if p, stored, err := person.Find(tx, r.AccountID, r.PersonID); err != nil || !stored || p.Status == "deleted" {
				return cmp.Or(err, ErrUnknown)
			}
		} else {
			r.PersonID, err = s.newIdentity(tx, r.AccountID, c, from, now)
			if err != nil {
				return err
			}
		}
		if err := person.Enable(tx, r.AccountID, r.PersonID); err != nil {
			return err
		}
		return s.follow(tx, r, c.groups, from, now)
	})
	return r, err
}

// openIDAccount returns the account in which the provider's persons sign in.
func (s *Service) openIDAccount(tx *db.Tx) (int64, error) {
	if s.OpenID.Account != 0 {
		return s.OpenID.Account, nil
	}
	all, err := person.Accounts(tx)
	if err == nil && len(all) != 1 {
		s.Log.Error("OpenID Connect: the database has several accounts; set the one to sign in to")
		err = ErrProvider
	}
	if err != nil {
		return 0, err
	}
	return all[0].AccountID, nil
}

// newIdentity finds the person of an e-mail address, or creates one. The address alone proves nothing unless the provider
// has verified it, and the rule of bindable lets the person be found by it.
func (s *Service) newIdentity(tx *db.Tx, account int64, c claims, from Client, now time.Time) (who int64, err error) {
	email := strings.TrimSpace(c.Email)
	if email == "" || len(email) > 255 || !c.verified() && !s.OpenID.TrustEmail {
		return 0, ErrUnknown
	}
	all, err := person.WithEmail(tx, email)
	if err != nil {
		return 0, err
	}
	for _, r := range all {
		if r.AccountID != account {
			continue
		}
		p, _, err := person.Find(tx, account, r.PersonID)
		if err != nil {
			return 0, err
		}
		if err := s.bindable(tx, account, p); err != nil {
			return 0, err
		}
		who = r.PersonID
	}
	if who == 0 {
		if !s.OpenID.Provision {
			return 0, ErrUnknown
		}
		name, _, _ := strings.Cut(email, "@")
		name = cmp.Or(strings.TrimSpace(c.Name), strings.TrimSpace(c.Nickname), name)
		who, err = person.Provision(tx, account, name, email, now.Unix())
		if err != nil {
			return 0, err
		}
		if err := s.record(tx, person.Ref{AccountID: account, PersonID: who}, opProvision, from, `{"way":"oidc"}`, "", now); err != nil {
			return 0, err
		}
	}
	if zone, is := c.ZoneInfo.(string); is {
		if err := person.AdoptZone(tx, account, who, zone, now); err != nil {
			return 0, err
		}
	}
	return who, credential.SetIdentity(tx, account, s.OpenID.Issuer, c.subject, who, now)
}

// change is what a sign-in has changed of a person's roles and teams, by name, for the audit log.
type change struct {
	Granted []string `json:"granted,omitempty"`
	Revoked []string `json:"revoked,omitempty"`
	Joined  []string `json:"joined,omitempty"`
	Left    []string `json:"left,omitempty"`
}

// follow grants and revokes the roles and teams that are configured by the values of the claim. Others stay as they are.
func (s *Service) follow(tx *db.Tx, r person.Ref, groups []string, from Client, now time.Time) error {
	var c change
	roles, err := role.Dump(tx, r.AccountID)
	if err != nil {
		return err
	}
	wanted := ruled(s.OpenID.Roles, groups)
	for _, one := range roles {
		if err := step(wanted, one.RoleName, &c.Granted, &c.Revoked, one.RoleID, r, tx, role.Give, role.Take); err != nil {
			return err
		}
	}
	teams, err := team.Dump(tx, r.AccountID)
	if err != nil {
		return err
	}
	wanted = ruled(s.OpenID.Teams, groups)
	for _, one := range teams {
		if err := step(wanted, one.TeamName, &c.Joined, &c.Left, one.TeamID, r, tx, joinTeam, leaveTeam); err != nil {
			return err
		}
	}
	if len(c.Granted)+len(c.Revoked)+len(c.Joined)+len(c.Left) == 0 {
		return nil
	}
	if err := configstore.BumpRevision(tx, r.AccountID); err != nil {
		return err
	}
	tx.OnCommit(func() { s.Recheck(r.AccountID) })
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return s.record(tx, r, opFollow, from, string(body), "", now)
}

// ruled returns the names that the values of a claim rule over, and whether the person is to have each.
func ruled(names map[string]string, groups []string) map[string]bool {
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[strings.ToLower(name)] = false
	}
	for _, group := range groups {
		if name := names[group]; name != "" {
			wanted[strings.ToLower(name)] = true
		}
	}
	return wanted
}

// changer grants or revokes, and reports whether that changed anything. Its numbers are account, person, object.
type changer func(tx *db.Tx, account, person, object int64) (bool, error)

func joinTeam(tx *db.Tx, account, person, object int64) (bool, error) {
	return team.Join(tx, account, object, person)
}

func leaveTeam(tx *db.Tx, account, person, object int64) (bool, error) {
	return team.LeaveOne(tx, account, object, person)
}

// step grants or revokes one role or team, if the claim rules over it, and notes what has changed.
func step(wanted map[string]bool, name string, given, taken *[]string, object int64, r person.Ref, tx *db.Tx, give, take changer) error {
	want, rules := wanted[strings.ToLower(name)]
	if !rules {
		return nil
	}
	do, list := take, taken
	if want {
		do, list = give, given
	}
	changed, err := do(tx, r.AccountID, r.PersonID, object)
	if changed {
		*list = append(*list, name)
	}
	return err
}
