package slack

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

// App is an app with a bot. Its token needs chat:write, users:read.email, and to open channels
// channels:manage, or groups:write for private ones.
type App struct {
	Token   string // of the bot, xoxb-…
	Private bool   // open private channels
	BaseURL string // empty: Slack's own
}

// maxName is the highest number of characters of a channel's name.
const maxName = 80

// Status is the part that all replies share.
type Status struct {
	OK     bool   `json:"ok"`
	Reason string `json:"error"`
}

// passing are the errors that a retry may clear.
var passing = []string{
	"ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org",
}

// Err returns the error that the reply reports, or nil.
func (s *Status) Err() *sender.Error {
	switch {
	case s.OK:
		return nil
	case s.Reason == "":
		return sender.Unreadable()
	}
	return sender.Refused(s.Reason, "see Slack's documentation of the method", slices.Contains(passing, s.Reason))
}

func (a App) call(ctx context.Context, out *egress.Client, method string, body any, reply sender.Reply) (sender.Receipt, error) {
	verb := http.MethodPost
	if body == nil { // those methods take their arguments from the query
		verb = http.MethodGet
	}
	call := sender.Call{
		Method:  verb,
		URL:     sender.Base(a.BaseURL, "https://slack.com/api") + "/" + method,
		Header:  http.Header{"Authorization": {"Bearer " + a.Token}},
		Body:    body,
		Secrets: []string{a.Token},
	}
	return call.Do(ctx, out, reply)
}

// OpenGroup opens a channel and invites people to it, looked up by e-mail address. A name that is taken gets a
// number. If the group has an ID it is open, even with an error, which then means that no person could be invited or
// that AddMembers may be retried.
func (a App) OpenGroup(ctx context.Context, out *egress.Client, name string, people []sender.Contact) (sender.Group, error) {
	var created struct {
		Status
		Channel struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"channel"`
	}
	for n := 1; ; n++ {
		created.Status = Status{}
		body := map[string]any{"name": channelName(name, n), "is_private": a.Private}
		_, err := a.call(ctx, out, "conversations.create", body, &created)
		if err == nil {
			break
		}
		if created.Reason != "name_taken" || n == 9 {
			return sender.Group{}, err
		}
	}
	group := sender.Group{ID: created.Channel.ID, Name: created.Channel.Name}
	group.Link = a.link(ctx, out, group.ID)
	missing, err := a.AddMembers(ctx, out, group.ID, people)
	group.Missing = missing
	return group, err
}

// link returns a link to a channel, at the workspace's own address if Slack returns it.
func (a App) link(ctx context.Context, out *egress.Client, groupID string) string {
	var workspace struct {
		Status
		URL string `json:"url"`
	}
	if _, err := a.call(ctx, out, "auth.test", nil, &workspace); err != nil || workspace.URL == "" {
		return "https://slack.com/app_redirect?channel=" + groupID
	}
	return strings.TrimSuffix(workspace.URL, "/") + "/archives/" + groupID
}

// gone are the errors for a channel that no longer exists or is archived.
var gone = []string{"channel_not_found", "already_archived", "is_archived"}

// FindGroup returns a channel; an archived channel is not found. The token needs channels:read, or groups:read for
// private channels.
func (a App) FindGroup(ctx context.Context, out *egress.Client, groupID string) (group sender.Group, found bool, err error) {
	var reply struct {
		Status
		Channel struct {
			Name     string `json:"name"`
			Archived bool   `json:"is_archived"`
		} `json:"channel"`
	}
	_, err = a.call(ctx, out, "conversations.info?"+url.Values{"channel": {groupID}}.Encode(), nil, &reply)
	switch {
	case slices.Contains(gone, reply.Reason) || err == nil && reply.Channel.Archived:
		return group, false, nil
	case err != nil:
		return group, false, err
	}
	return sender.Group{ID: groupID, Name: reply.Channel.Name, Link: a.link(ctx, out, groupID)}, true, nil
}

// CloseGroup archives a channel: its messages can still be read.
func (a App) CloseGroup(ctx context.Context, out *egress.Client, group sender.Group) (left string, err error) {
	var s Status
	_, err = a.call(ctx, out, "conversations.archive", map[string]string{"channel": group.ID}, &s)
	if slices.Contains(gone, s.Reason) {
		err = nil
	}
	return "", err
}

// AddMembers invites people to a channel, of whom some may be members already, and returns the labels of the others.
func (a App) AddMembers(ctx context.Context, out *egress.Client, groupID string, people []sender.Contact) (missing []string, err error) {
	return a.directory(ctx, out).Invite(people, func(ids []string) (left []string, err error) {
		refused, err := sender.Add(ids, 100, func(lot []string) error {
			var s struct {
				Status
				Errors []struct {
					User   string `json:"user"`
					Reason string `json:"error"`
				} `json:"errors"`
			}
			body := map[string]any{"channel": groupID, "users": strings.Join(lot, ","), "force": true}
			_, err := a.call(ctx, out, "conversations.invite", body, &s)
			if within(s.Reason) {
				return nil
			}
			if len(lot) == 1 || len(s.Errors) == 0 {
				return err
			}
			for _, e := range s.Errors { // the others of the batch are invited
				if !within(e.Reason) {
					left = append(left, e.User)
				}
			}
			return nil
		})
		return append(left, refused...), err
	})
}

// within reports whether an invitation was refused because the person is a member already.
func within(reason string) bool {
	return reason == "already_in_channel" || reason == "cant_invite_self"
}

// SendDirect sends a person a direct message: a message to a person's ID appears in the conversation with the bot.
func (a App) SendDirect(ctx context.Context, out *egress.Client, person sender.Contact, m sender.Message) (sender.Receipt, error) {
	id, err := a.directory(ctx, out).One(person, "Slack", "e-mail address")
	if err != nil {
		return sender.Receipt{}, err
	}
	return a.Post(ctx, out, id, m)
}

// Post sends a message to a channel. The receipt's ID is the message's timestamp, by which Slack identifies messages.
func (a App) Post(ctx context.Context, out *egress.Client, groupID string, m sender.Message) (sender.Receipt, error) {
	var reply struct {
		Status
		Moment string `json:"ts"`
	}
	receipt, err := a.call(ctx, out, "chat.postMessage", compose(groupID, m), &reply)
	receipt.ID = reply.Moment
	return receipt, err
}

func (a App) directory(ctx context.Context, out *egress.Client) sender.Directory {
	return func(c sender.Contact) (string, error) {
		if c.Email == "" {
			return "", nil
		}
		var s struct {
			Status
			User struct {
				ID string `json:"id"`
			} `json:"user"`
		}
		_, err := a.call(ctx, out, "users.lookupByEmail?"+url.Values{"email": {c.Email}}.Encode(), nil, &s)
		if s.Reason == "users_not_found" {
			return "", nil
		}
		return s.User.ID, err
	}
}

// channelName returns a name that Slack accepts, the nth of those that are alike: lower-case letters, digits, hyphens
// and underscores.
func channelName(name string, n int) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	})
	suffix := ""
	if n > 1 {
		suffix = fmt.Sprintf("-%d", n)
	}
	plain := []rune(strings.Join(words, "-"))
	if len(plain) == 0 {
		plain = []rune("incident")
	}
	return string(plain[:min(len(plain), maxName-len(suffix))]) + suffix
}
