package wecom

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

// App is an app of the organisation's own. WeCom lets it open groups only if all members can see the app.
type App struct {
	CorpID  string
	Secret  string
	Owner   string // user ID of the owner of groups; empty: WeCom chooses one of the people
	AgentID string // a number: the app's ID in the organisation, needed for messages to persons; may be empty
	BaseURL string // empty: WeCom's own
}

const (
	maxName   = 50  // characters
	maxBatch  = 500 // people added in one call
	minPeople = 2   // in a group
)

// unknown are the codes for a person that WeCom does not know.
var unknown = []int{46004, 60111}

// session is an app that has a token.
type session struct{ sender.Session }

func (a App) login(ctx context.Context, out *egress.Client) (session, error) {
	var reply struct {
		Status
		Token string `json:"access_token"`
	}
	query := url.Values{"corpid": {a.CorpID}, "corpsecret": {a.Secret}}
	call := sender.Call{Method: http.MethodGet, URL: "/cgi-bin/gettoken?" + query.Encode()}
	s, err := sender.Login(ctx, out, sender.Base(a.BaseURL, "https://qyapi.weixin.qq.com"), a.Secret, call, &reply, &reply.Token)
	return session{s}, err
}

func (s session) call(path string, body any, reply sender.Reply) (sender.Receipt, error) {
	return s.Ask(sender.Call{URL: "/cgi-bin/" + path, Body: body}, nil, reply)
}

// find looks a person up by phone number, then by e-mail address: the organisation's (1), then the private one (2).
func (s session) find(c sender.Contact) (id string, err error) {
	if c.Phone != "" {
		id, err = s.who("user/getuserid", map[string]any{"mobile": c.Mobile()})
	}
	for kind := 1; kind <= 2 && id == "" && c.Email != "" && !sender.Retry(err); kind++ {
		id, err = s.who("user/get_userid_by_email", map[string]any{"email": c.Email, "email_type": kind})
	}
	return id, err
}

func (s session) who(path string, ask map[string]any) (string, error) {
	var reply struct {
		Status
		ID string `json:"userid"`
	}
	_, err := s.call(path, ask, &reply)
	if reply.Code != nil && slices.Contains(unknown, *reply.Code) {
		return "", nil
	}
	return reply.ID, err
}

// OpenGroup opens a group of people, looked up by phone number or e-mail address. It needs two people, of whom the
// app's owner is one. If the group has an ID it is open, even with an error, which then means that AddMembers may be
// retried. People see the group once it has a message; it has no link.
func (a App) OpenGroup(ctx context.Context, out *egress.Client, name string, people []sender.Contact) (sender.Group, error) {
	s, err := a.login(ctx, out)
	if err != nil {
		return sender.Group{}, err
	}
	name = sender.Line(name, maxName)
	opening := sender.Opening{Owner: a.Owner, Find: s.find, Lots: a.lots, Add: s.add}
	opening.Few = "a group in WeCom needs two people whom it knows, the app's owner being one"
	opening.Create = func(lot []string) (string, error) {
		var created struct {
			Status
			ID string `json:"chatid"`
		}
		body := map[string]any{"name": name, "userlist": lot}
		if a.Owner != "" {
			body["owner"] = a.Owner
		}
		_, err := s.call("appchat/create", body, &created)
		return created.ID, err
	}
	return opening.Open(name, people)
}

// lots returns the batches with which a group may be opened: all people, or else two, the owner being one.
func (a App) lots(ids []string) [][]string {
	if len(ids) < minPeople {
		return nil
	}
	lots := [][]string{ids}
	for i, id := range ids[1:] {
		if a.Owner != "" {
			lots = append(lots, []string{a.Owner, id})
		} else {
			lots = append(lots, ids[i:i+2])
		}
	}
	return lots
}

// gone are the codes for a group that does not exist.
var gone = []int{86001, 86003}

// FindGroup returns a group that the app has opened.
func (a App) FindGroup(ctx context.Context, out *egress.Client, groupID string) (group sender.Group, found bool, err error) {
	s, err := a.login(ctx, out)
	if err != nil {
		return group, false, err
	}
	var reply struct {
		Status
		Info struct {
			Name string `json:"name"`
		} `json:"chat_info"`
	}
	_, err = s.Ask(sender.Call{Method: http.MethodGet, URL: "/cgi-bin/appchat/get"}, url.Values{"chatid": {groupID}}, &reply)
	switch {
	case reply.Code != nil && slices.Contains(gone, *reply.Code):
		return group, false, nil
	case err != nil:
		return group, false, err
	}
	return sender.Group{ID: groupID, Name: reply.Info.Name}, true, nil
}

// CloseGroup renames a group, because an app cannot dissolve one.
func (a App) CloseGroup(ctx context.Context, out *egress.Client, group sender.Group) (left string, err error) {
	s, err := a.login(ctx, out)
	if err != nil {
		return "", err
	}
	name := sender.Closed(group.Name, maxName)
	var reply Status
	_, err = s.call("appchat/update", map[string]any{"chatid": group.ID, "name": name}, &reply)
	switch {
	case reply.Code != nil && slices.Contains(gone, *reply.Code):
		return "", nil
	case err != nil:
		return "", err
	}
	return sender.Renamed("WeCom", name), nil
}

// AddMembers adds people to a group and returns the labels of the others.
func (a App) AddMembers(ctx context.Context, out *egress.Client, groupID string, people []sender.Contact) (missing []string, err error) {
	s, err := a.login(ctx, out)
	if err != nil {
		return nil, err
	}
	return sender.Directory(s.find).Invite(people, func(ids []string) ([]string, error) { return s.add(groupID, ids) })
}

func (s session) add(groupID string, ids []string) (refused []string, err error) {
	return sender.Add(ids, maxBatch, func(lot []string) error {
		_, err := s.call("appchat/update", map[string]any{"chatid": groupID, "add_user_list": lot}, &Status{})
		return err
	})
}

// Post sends a message to a group.
func (a App) Post(ctx context.Context, out *egress.Client, groupID string, m sender.Message) (sender.Receipt, error) {
	s, err := a.login(ctx, out)
	if err != nil {
		return sender.Receipt{}, err
	}
	return s.call("appchat/send", compose(groupID, m), &Status{})
}

// direct is a message to a person.
type direct struct {
	To    string `json:"touser"`
	Agent int64  `json:"agentid"`
	message
}

// taken is the reply to it. WeCom reports success even if it shows the message to no one.
type taken struct {
	Status
	Hidden     string `json:"invaliduser"`
	Unlicensed string `json:"unlicenseduser"`
	ID         string `json:"msgid"`
}

// Err returns the error that the reply reports, or nil.
func (t *taken) Err() *sender.Error {
	if err := t.Status.Err(); err != nil {
		return err
	}
	if t.Hidden+t.Unlicensed != "" {
		return &sender.Error{
			Message: sentence.New("wecom_hidden"),
		}
	}
	return nil
}

// SendDirect sends a person a message of the app. AgentID must be set.
func (a App) SendDirect(ctx context.Context, out *egress.Client, person sender.Contact, m sender.Message) (sender.Receipt, error) {
	agent, err := sender.AgentID(a.AgentID, "WeCom")
	if err != nil {
		return sender.Receipt{}, err
	}
	s, err := a.login(ctx, out)
	if err != nil {
		return sender.Receipt{}, err
	}
	id, err := sender.Directory(s.find).One(person, "WeCom", "phone number or e-mail address")
	if err != nil {
		return sender.Receipt{}, err
	}
	var reply taken
	receipt, err := s.call("message/send", direct{id, agent, compose("", m)}, &reply)
	receipt.ID = reply.ID
	return receipt, err
}
