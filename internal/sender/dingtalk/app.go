package dingtalk

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

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

// session is an app that has a token.
type session struct{ sender.Session }

func (a App) login(ctx context.Context, out *egress.Client) (session, error) {
	var reply struct {
		Status
		Token string `json:"access_token"`
	}
	query := url.Values{"appkey": {a.Key}, "appsecret": {a.Secret}}
	call := sender.Call{Method: http.MethodGet, URL: "/gettoken?" + query.Encode()}
	s, err := sender.Login(ctx, out, sender.Base(a.BaseURL, "https://oapi.dingtalk.com"), a.Secret, call, &reply, &reply.Token)
	return session{s}, err
}

func (s session) call(path string, body any, reply sender.Reply) (sender.Receipt, error) {
	return s.Ask(sender.Call{URL: path, Body: body}, nil, reply)
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
	name = sender.Line(name, maxName)
	opening := sender.Opening{Owner: a.Owner, Find: s.find, Lots: a.lots, Add: s.add}
	opening.Few = "DingTalk knows none of the people by phone number, and the app names no owner for its groups"
	opening.Create = func(lot []string) (string, error) {
		var created struct {
			Status
			ID string `json:"chatid"`
		}
		_, err := s.call("/chat/create", map[string]any{"name": name, "owner": lot[0], "useridlist": lot, "showHistoryType": 1}, &created)
		return created.ID, err
	}
	return opening.Open(name, people)
}

// lots returns the batches with which a group may be opened: as many people as fit, or else one. The first is the owner.
func (a App) lots(ids []string) [][]string {
	if len(ids) == 0 {
		return nil
	}
	lots := append([][]string{ids[:min(len(ids), maxBatch)]}, slices.Collect(slices.Chunk(ids, 1))...)
	if a.Owner != "" { // only its owner can open a group
		lots = lots[:2]
	}
	return lots
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
	_, err = s.Ask(sender.Call{Method: http.MethodGet, URL: "/chat/get"}, url.Values{"chatid": {groupID}}, &reply)
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
	return sender.Renamed("DingTalk", name), nil
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
	agent, err := sender.AgentID(a.AgentID, "DingTalk")
	if err != nil {
		return sender.Receipt{}, err
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
