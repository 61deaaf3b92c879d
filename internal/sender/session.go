package sender

import (
	"context"
	"net/url"
	"strconv"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
)

// Session is an app of a chat service with the token that lasts for one operation.
type Session struct {
	Token   string
	ctx     context.Context
	out     *egress.Client
	base    string
	secrets []string
}

// Login makes the call that obtains a token, with a secret of the app. The call's URL is a path below base; its reply has
// the token in a member.
func Login(ctx context.Context, out *egress.Client, base, secret string, call Call, reply Reply, token *string) (Session, error) {
	s := Session{ctx: ctx, out: out, base: base, secrets: []string{secret}}
	_, err := s.Do(call, reply)
	s.Token = *token
	s.secrets = append(s.secrets, *token)
	return s, err
}

// Do makes a call. Its URL is a path below the base of the service.
func (s Session) Do(call Call, reply Reply) (Receipt, error) {
	call.URL = s.base + call.URL
	call.Secrets = s.secrets
	return call.Do(s.ctx, s.out, reply)
}

// Ask makes a call to a service that takes the token in the query, as access_token.
func (s Session) Ask(call Call, query url.Values, reply Reply) (Receipt, error) {
	all := url.Values{"access_token": {s.Token}}
	for name, values := range query {
		all[name] = values
	}
	call.URL += "?" + all.Encode()
	return s.Do(call, reply)
}

// Opening opens groups at a service that opens none without members, and adds the others afterwards.
type Opening struct {
	Owner  string                                               // user ID of the owner, who comes first; empty: none
	Find   Directory                                            // looks the people up
	Few    string                                               // the error when Lots returns none
	Lots   func(ids []string) [][]string                        // the members with whom the group may be opened, see Open; none: too few
	Create func(lot []string) (id string, err error)            // opens the group
	Add    func(groupID string, ids []string) ([]string, error) // adds people, and returns those who were refused
}

// Open opens a group of people. If the group has an ID it is open, even with an error, which then means that people may be
// added once more.
func (o Opening) Open(name string, people []Contact) (Group, error) {
	ids, known, missing, err := o.Find.Find(people)
	if err != nil {
		return Group{Missing: missing}, err
	}
	if o.Owner != "" {
		ids = append([]string{o.Owner}, without(ids, []string{o.Owner})...)
	}
	lots := o.Lots(ids)
	if len(lots) == 0 {
		return Group{Missing: missing}, &Error{Message: sentence.Raw(o.Few)}
	}
	group := Group{Name: name}
	rest, err := Open(ids, lots, func(lot []string) (err error) {
		group.ID, err = o.Create(lot)
		return err
	})
	if err != nil {
		return Group{Missing: missing}, err
	}
	refused, err := o.Add(group.ID, rest)
	group.Missing = append(missing, Labels(refused, known)...)
	if !Retry(err) { // the people refused are in missing, and the others are members
		err = nil
	}
	return group, err
}

// Renamed describes what is left of a group at a service that lets no app dissolve one.
func Renamed(service, name string) string {
	return service + " lets no app dissolve a group: it stays, and is now called " + strconv.Quote(name)
}

// AgentID returns the number of an app in its organisation, in whose name a service sends messages to persons.
func AgentID(text, service string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &Error{
			Message: sentence.Raw("agent_id of the app must be set, to a number: " + service + " sends messages to persons in its name"),
		}
	}
	return id, nil
}
