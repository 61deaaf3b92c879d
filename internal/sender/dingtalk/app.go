package dingtalk

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

// App is an app of the organisation's own.
type App struct {
	Key     string
	Secret  string
	Owner   string // user ID of the owner of groups; empty: the first person that DingTalk knows
	AgentID string // a number: the app's ID in the organisation, needed for messages to persons; may be empty
	BaseURL string // empty: DingTalk's own
}

const (
	maxName  = 20 // characters
	maxBatch = 40 // people that may be added in one call
	noPerson = 60121
)

// session is an app with the access that lasts for one operation.
type session struct {
	ctx     context.Context
	out     *egress.Client
	base    string
	token   string
	secrets []string
}

func (a App) login(ctx context.Context, out *egress.Client) (session, error) {
	s := session{ctx: ctx, out: out, base: sender.Base(a.BaseURL, "https://oapi.dingtalk.com"), secrets: []string{a.Secret}}
	var reply struct {
		Status
		Token string `json:"access_token"`
	}
	query := url.Values{"appkey": {a.Key}, "appsecret": {a.Secret}}
	_, err := sender.Call{Method: http.MethodGet, URL: s.base + "/gettoken?" + query.Encode(), Secrets: s.secrets}.Do(ctx, out, &reply)
	s.token = reply.Token
	s.secrets = append(s.secrets, reply.Token)
	return s, err
}

func (s session) call(path string, body any, reply sender.Reply) (sender.Receipt, error) {
	query := url.Values{"access_token": {s.token}}
	return sender.Call{URL: s.base + path + "?" + query.Encode(), Body: body, Secrets: s.secrets}.Do(s.ctx, s.out, reply)
}

// find looks a person up by phone number, the only key that DingTalk supports.
func (s session) find(c sender.Contact) (string, error) {
	if c.Phone == "" {
		return "", nil
	}
	var reply struct {
		Status
		Result struct {
			ID string `json:"userid"`
		} `json:"result"`
	}
	_, err := s.call("/topapi/v2/user/getbymobile", map[string]string{"mobile": c.Mobile()}, &reply)
	if reply.Code != nil && *reply.Code == noPerson {
		return "", nil
	}
	return reply.Result.ID, err
}

// OpenGroup opens a group of people, looked up by phone number. A group must have an owner, so without Owner and
// with no known person none is opened. If the group has an ID it is open, even with an error, which then means that
// AddMembers may be retried. It has no link.
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
	if len(ids) == 0 {
		none := "DingTalk knows none of the people by phone number, and the app names no owner for its groups"
		return sender.Group{Missing: missing}, &sender.Error{Message: sentence.Raw(none)}
	}
	group := sender.Group{Name: sender.Line(name, maxName)}
	var created struct {
		Status
		ID string `json:"chatid"`
	}
	lots := append([][]string{ids[:min(len(ids), maxBatch)]}, slices.Collect(slices.Chunk(ids, 1))...)
	if a.Owner != "" { // only its owner can open a group
		lots = lots[:2]
	}
	rest, err := sender.Open(ids, lots, func(lot []string) error {
		_, err := s.call("/chat/create", map[string]any{"name": group.Name, "owner": lot[0], "useridlist": lot, "showHistoryType": 1}, &created)
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

// FindGroup returns a group. DingTalk has no documented code for a group that no longer exists: it refuses the call
// then, as it does for other reasons.
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
	call := sender.Call{Method: http.MethodGet, URL: s.base + "/chat/get?" + query.Encode(), Secrets: s.secrets}
	_, err = call.Do(ctx, out, &reply)
	if err != nil {
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
	_, err = s.call("/chat/update", map[string]any{"chatid": group.ID, "name": name}, &Status{})
	if err != nil {
		return "", err
	}
	return "DingTalk lets no app dissolve a group: it stays, and is now called " + strconv.Quote(name), nil
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
		_, err := s.call("/chat/update", map[string]any{"chatid": groupID, "add_useridlist": lot}, &Status{})
		return err
	})
}

// Post sends a message to a group.
func (a App) Post(ctx context.Context, out *egress.Client, groupID string, m sender.Message) (sender.Receipt, error) {
	s, err := a.login(ctx, out)
	if err != nil {
		return sender.Receipt{}, err
	}
	var reply struct {
		Status
		ID string `json:"messageId"`
	}
	receipt, err := s.call("/chat/send", map[string]any{"chatid": groupID, "msg": compose(m)}, &reply)
	receipt.ID = reply.ID
	return receipt, err
}

// SendDirect sends a person a work notification: the direct message that an app may send with its agent ID and the
// credentials for groups. DingTalk replies when it has accepted the message, not when it has shown it. The
// receipt's ID is the task, by which DingTalk reports the result.
func (a App) SendDirect(ctx context.Context, out *egress.Client, person sender.Contact, m sender.Message) (sender.Receipt, error) {
	agent, err := strconv.ParseInt(a.AgentID, 10, 64)
	if err != nil {
		return sender.Receipt{}, &sender.Error{
			Message: "agent_id of the app must be set, to a number: DingTalk sends messages to persons in its name",
		}
	}
	s, err := a.login(ctx, out)
	if err != nil {
		return sender.Receipt{}, err
	}
	id, err := sender.Directory(s.find).One(person, "DingTalk", "phone number")
	if err != nil {
		return sender.Receipt{}, err
	}
	var reply struct {
		Status
		Task int64 `json:"task_id"`
	}
	receipt, err := s.call("/topapi/message/corpconversation/asyncsend_v2",
		map[string]any{"agent_id": agent, "userid_list": id, "msg": note(m)}, &reply)
	if reply.Task != 0 {
		receipt.ID = strconv.FormatInt(reply.Task, 10)
	}
	return receipt, err
}
