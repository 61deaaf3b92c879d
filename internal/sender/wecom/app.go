package wecom

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

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

// session is an app with the access that lasts for one operation.
type session struct {
	ctx     context.Context
	out     *egress.Client
	base    string
	token   string
	secrets []string
}

func (a App) login(ctx context.Context, out *egress.Client) (session, error) {
	s := session{ctx: ctx, out: out, base: sender.Base(a.BaseURL, "https://qyapi.weixin.qq.com"), secrets: []string{a.Secret}}
	var reply struct {
		Status
		Token string `json:"access_token"`
	}
	query := url.Values{"corpid": {a.CorpID}, "corpsecret": {a.Secret}}
	_, err := sender.Call{Method: http.MethodGet, URL: s.base + "/cgi-bin/gettoken?" + query.Encode(), Secrets: s.secrets}.Do(ctx, out, &reply)
	s.token = reply.Token
	s.secrets = append(s.secrets, reply.Token)
	return s, err
}

func (s session) call(path string, body any, reply sender.Reply) (sender.Receipt, error) {
	query := url.Values{"access_token": {s.token}}
	return sender.Call{URL: s.base + "/cgi-bin/" + path + "?" + query.Encode(), Body: body, Secrets: s.secrets}.Do(s.ctx, s.out, reply)
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
	ids, known, missing, err := sender.Directory(s.find).Find(people)
	if err != nil {
		return sender.Group{Missing: missing}, err
	}
	if a.Owner != "" {
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == a.Owner })
		ids = append([]string{a.Owner}, ids...)
	}
	if len(ids) < minPeople {
		tooFew := "a group in WeCom needs two people whom it knows, the app's owner being one"
		return sender.Group{Missing: missing}, &sender.Error{Message: sentence.Raw(tooFew)}
	}
	var created struct {
		Status
		ID string `json:"chatid"`
	}
	group := sender.Group{Name: sender.Line(name, maxName)}
	rest, err := sender.Open(ids, a.lots(ids), func(lot []string) error {
		body := map[string]any{"name": group.Name, "userlist": lot}
		if a.Owner != "" {
			body["owner"] = a.Owner
		}
		_, err := s.call("appchat/create", body, &created)
		return err
	})
	if err != nil {
		return sender.Group{Missing: missing}, err
	}
	group.ID = created.ID
	refused, err := s.add(group.ID, rest)
	group.Missing = append(missing, sender.Labels(refused, known)...)
	if !sender.Retry(err) { // the people refused are in missing, and the others are members
		err = nil
	}
	return group, err
}

// lots returns the batches with which a group may be opened: all people, or else two, the owner being one.
func (a App) lots(ids []string) [][]string {
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
	query := url.Values{"access_token": {s.token}, "chatid": {groupID}}
	call := sender.Call{Method: http.MethodGet, URL: s.base + "/cgi-bin/appchat/get?" + query.Encode(), Secrets: s.secrets}
	_, err = call.Do(ctx, out, &reply)
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
	return "WeCom lets no app dissolve a group: it stays, and is now called " + strconv.Quote(name), nil
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
			Message: "WeCom does not show the person the message: the person is none of those who can see the app, or has no licence for it",
		}
	}
	return nil
}

// SendDirect sends a person a message of the app. AgentID must be set.
func (a App) SendDirect(ctx context.Context, out *egress.Client, person sender.Contact, m sender.Message) (sender.Receipt, error) {
	agent, err := strconv.ParseInt(a.AgentID, 10, 64)
	if err != nil {
		return sender.Receipt{}, &sender.Error{
			Message: "agent_id of the app must be set, to a number: WeCom sends messages to persons in its name",
		}
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
