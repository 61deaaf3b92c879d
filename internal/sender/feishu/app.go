package feishu

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

// App is an app of the organisation's own, with a bot.
type App struct {
	ID      string
	Secret  string
	BaseURL string // empty: Feishu; for Lark https://open.larksuite.com
}

// maxName is the highest number of characters of a group's name.
const maxName = 60

// session is an app that has a token.
type session struct{ sender.Session }

func (a App) login(ctx context.Context, out *egress.Client) (session, error) {
	var reply struct {
		Status
		Token string `json:"tenant_access_token"`
	}
	call := sender.Call{
		URL:  "/open-apis/auth/v3/tenant_access_token/internal",
		Body: map[string]string{"app_id": a.ID, "app_secret": a.Secret},
	}
	s, err := sender.Login(ctx, out, sender.Base(a.BaseURL, "https://open.feishu.cn"), a.Secret, call, &reply, &reply.Token)
	return session{s}, err
}

func (s session) call(path string, body any, reply sender.Reply) (sender.Receipt, error) {
	return s.ask(http.MethodPost, path, body, reply)
}

func (s session) ask(method, path string, body any, reply sender.Reply) (sender.Receipt, error) {
	header := http.Header{"Authorization": {"Bearer " + s.Token}}
	return s.Do(sender.Call{Method: method, URL: "/open-apis/" + path, Header: header, Body: body}, reply)
}

// find looks a person up by e-mail address and phone number.
func (s session) find(c sender.Contact) (string, error) {
	ask := map[string][]string{}
	if c.Email != "" {
		ask["emails"] = []string{c.Email}
	}
	if c.Phone != "" {
		ask["mobiles"] = []string{c.Mobile()}
	}
	if len(ask) == 0 {
		return "", nil
	}
	var reply struct {
		Status
		Data struct {
			Users []struct {
				ID string `json:"user_id"` // empty: not known
			} `json:"user_list"`
		} `json:"data"`
	}
	_, err := s.call("contact/v3/users/batch_get_id?user_id_type=open_id", ask, &reply)
	for _, u := range reply.Data.Users {
		if u.ID != "" {
			return u.ID, err
		}
	}
	return "", err
}

// OpenGroup opens a group and adds people to it, looked up by e-mail address or phone number. If the group has an ID
// it is open, even with an error, which then means that no person could be added or that AddMembers may be retried.
func (a App) OpenGroup(ctx context.Context, out *egress.Client, name string, people []sender.Contact) (sender.Group, error) {
	s, err := a.login(ctx, out)
	if err != nil {
		return sender.Group{}, err
	}
	group := sender.Group{Name: sender.Line(name, maxName)}
	var created struct {
		Status
		Data struct {
			ID string `json:"chat_id"`
		} `json:"data"`
	}
	if _, err := s.call("im/v1/chats", map[string]string{"name": group.Name}, &created); err != nil {
		return sender.Group{}, err
	}
	group.ID = created.Data.ID
	group.Link = s.link(group.ID)
	group.Missing, err = s.add(group.ID, people)
	return group, err
}

// link returns the group's link, or "" after a failure: people can find the group without it.
func (s session) link(groupID string) string {
	var reply struct {
		Status
		Data struct {
			Link string `json:"share_link"`
		} `json:"data"`
	}
	path := "im/v1/chats/" + url.PathEscape(groupID) + "/link"
	if _, err := s.call(path, map[string]string{"validity_period": "permanently"}, &reply); err != nil {
		return ""
	}
	return reply.Data.Link
}

// gone reports whether a reply states that the group does not exist, or no longer does.
func gone(s Status) bool { return s.Code != nil && (*s.Code == 232006 || *s.Code == 232009) }

// FindGroup returns a group; a dissolved group is not found.
func (a App) FindGroup(ctx context.Context, out *egress.Client, groupID string) (group sender.Group, found bool, err error) {
	s, err := a.login(ctx, out)
	if err != nil {
		return group, false, err
	}
	var reply struct {
		Status
		Data struct {
			Name  string `json:"name"`
			State string `json:"chat_status"` // normal, dissolved or dissolved_save; empty from older servers
		} `json:"data"`
	}
	_, err = s.ask(http.MethodGet, "im/v1/chats/"+url.PathEscape(groupID), nil, &reply)
	switch {
	case gone(reply.Status) || err == nil && strings.HasPrefix(reply.Data.State, "dissolved"):
		return group, false, nil
	case err != nil:
		return group, false, err
	}
	return sender.Group{ID: groupID, Name: reply.Data.Name, Link: s.link(groupID)}, true, nil
}

// CloseGroup dissolves a group. Feishu allows that to the app that has opened it.
func (a App) CloseGroup(ctx context.Context, out *egress.Client, group sender.Group) (left string, err error) {
	s, err := a.login(ctx, out)
	if err != nil {
		return "", err
	}
	var reply Status
	_, err = s.ask(http.MethodDelete, "im/v1/chats/"+url.PathEscape(group.ID), nil, &reply)
	if gone(reply) {
		err = nil
	}
	return "", err
}

// AddMembers adds people to a group, of whom some may be members already, and returns the labels of the others.
func (a App) AddMembers(ctx context.Context, out *egress.Client, groupID string, people []sender.Contact) (missing []string, err error) {
	s, err := a.login(ctx, out)
	if err != nil {
		return nil, err
	}
	return s.add(groupID, people)
}

// add adds the people that Feishu allows (succeed_type 1), at most 50 in one call.
func (s session) add(groupID string, people []sender.Contact) ([]string, error) {
	return sender.Directory(s.find).Invite(people, func(ids []string) (left []string, err error) {
		refused, err := sender.Add(ids, 50, func(lot []string) error {
			var reply struct {
				Status
				Data struct {
					Invalid []string `json:"invalid_id_list"`
					Gone    []string `json:"not_existed_id_list"`
				} `json:"data"`
			}
			_, err := s.call("im/v1/chats/"+url.PathEscape(groupID)+"/members?member_id_type=open_id&succeed_type=1",
				map[string][]string{"id_list": lot}, &reply)
			left = append(append(left, reply.Data.Invalid...), reply.Data.Gone...)
			return err
		})
		return append(left, refused...), err
	})
}

// Post sends a message to a group. Feishu drops a second message of the same key in the same group within an hour.
func (a App) Post(ctx context.Context, out *egress.Client, groupID string, m sender.Message) (sender.Receipt, error) {
	s, err := a.login(ctx, out)
	if err != nil {
		return sender.Receipt{}, err
	}
	return s.post("chat_id", groupID, m)
}

// SendDirect sends a person a direct message of the bot; a second of the same key is dropped as in groups.
func (a App) SendDirect(ctx context.Context, out *egress.Client, person sender.Contact, m sender.Message) (sender.Receipt, error) {
	s, err := a.login(ctx, out)
	if err != nil {
		return sender.Receipt{}, err
	}
	id, err := sender.Directory(s.find).One(person, "Feishu", "e-mail address or phone number")
	if err != nil {
		return sender.Receipt{}, err
	}
	return s.post("open_id", id, m)
}

// post sends a message to an ID of a kind.
func (s session) post(kind, id string, m sender.Message) (sender.Receipt, error) {
	content, err := json.Marshal(post(m.Text, maxApp))
	if err != nil {
		return sender.Receipt{}, &sender.Error{Message: sentence.Raw(err.Error())}
	}
	once := sha256.Sum256([]byte(id + "\n" + m.Key))
	var reply struct {
		Status
		Data struct {
			ID string `json:"message_id"`
		} `json:"data"`
	}
	body := map[string]string{"receive_id": id, "msg_type": "post", "content": string(content), "uuid": hex.EncodeToString(once[:16])}
	receipt, err := s.call("im/v1/messages?receive_id_type="+kind, body, &reply)
	receipt.ID = reply.Data.ID
	return receipt, err
}
