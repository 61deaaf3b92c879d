package notify

import (
	"fmt"
	"strconv"
	"strings"

	"tocsin/internal/core/sentence"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/sender"
)

// Direct is a person whom an app of the account sends a direct message, or a chat that the app posts to. The app's
// credentials are read when the message is sent.
type Direct struct {
	Account     int64          `json:"account"`
	Kind        string         `json:"kind"` // type of the integration, such as slack_app
	Integration int64          `json:"integration"`
	Person      sender.Contact `json:"person,omitzero"`
	Chat        string         `json:"chat,omitzero"` // the service's id of the chat; empty: a direct message to the person
}

// kindOf returns a method without the integration that it names: slack_app of slack_app:5.
func kindOf(method string) string {
	kind, _, _ := strings.Cut(method, ":")
	return kind
}

// IsDirect reports whether a method is the direct message of an app.
func IsDirect(method string) bool { return contactProblem[kindOf(method)] != nil }

// contactProblem returns, for each kind of direct message, why a service cannot find a person; empty when it can.
var contactProblem = map[string]func(p Person) sentence.Value{
	integration.SlackApp: func(p Person) sentence.Value {
		if p.Email != "" {
			return ""
		}
		return sentence.New("direct_email", p.Name, "Slack")
	},
	integration.FeishuApp: func(p Person) sentence.Value { return withoutContact(p, "Feishu") },
	integration.DingTalkApp: func(p Person) sentence.Value {
		if p.Phone != "" {
			return ""
		}
		return sentence.New("direct_phone", p.Name, "DingTalk")
	},
	integration.WeComApp: func(p Person) sentence.Value { return withoutContact(p, "WeCom") },
	integration.TeamsApp: func(Person) sentence.Value { return "" }, // the sender rejects it for every person
}

// withoutContact returns the problem of a person with neither e-mail address nor phone number for a service; empty when the
// person has one of the two.
func withoutContact(p Person, service string) sentence.Value {
	if p.Email+p.Phone != "" {
		return ""
	}
	return sentence.New("direct_either", p.Name, service)
}

// direct resolves the method of a direct message to a person. The method is the type of an app, a colon and the
// integration's id; the type alone where the account has exactly one such app enabled. A Reach that must fail carries
// the reason in Lacks. If no integration is named, there is no Reach, and lacks holds the reason.
func (r *Service) direct(tx *db.Tx, account int64, p Person, method string) (reach Reach, lacks sentence.Value, err error) {
	kind, number, named := strings.Cut(method, ":")
	id, parseErr := strconv.ParseInt(number, 10, 64)
	switch {
	case named && parseErr != nil:
		return reach, sentence.Raw(method + " must end in the number of an integration"), nil
	case !named:
		only, why, err := integration.Only(tx, account, kind)
		if err != nil || why != "" {
			return reach, sentence.Raw(why), err
		}
		id = only
	}
	_, why, err := integration.Usable(tx, account, kind, id)
	if err != nil {
		return reach, "", err
	}
	lacks = sentence.Raw(why)
	if why == "" {
		lacks = contactProblem[kind](p)
	}
	method = fmt.Sprintf("%s:%d", kind, id)
	to := Direct{Account: account, Kind: kind, Integration: id, Person: sender.Contact{Name: p.Name, Email: p.Email, Phone: p.Phone}}
	return Reach{Method: method, Address: Address{Direct: &to}, Lacks: lacks}, lacks, nil
}
