package schedule

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/platform/fault"
	"tocsin/internal/sender"
)

// Notify is who is notified about shifts, and how (specification 2.2).
type Notify struct {
	AdvanceInTime *int64     `json:"advance_in_time,omitzero" minimum:"0" doc:"Seconds before a handoff at which the outgoing and the incoming persons are notified; 0: at the handoff. Absent: no notification."`
	FixedTime     *FixedTime `json:"fixed_time" required:"false" doc:"When the on-call persons are notified every day; null: never."`
	By            *NotifyBy  `json:"by" required:"false" doc:"The methods of notification; null when not set: those that each person prefers."`
	Webhooks      *[]Webhook `json:"webhooks" maxItems:"100" required:"false" nullable:"true" doc:"Chats that are notified too; null when not set."`
}

// FixedTime is a time of day. It is unset unless both members are set.
type FixedTime struct {
	Cycle string `json:"cycle" enum:"day," required:"false" doc:"Always day; empty: no fixed time."`
	Start string `json:"start" maxLength:"255" required:"false" doc:"Time of day in the schedule's zone, HH:MM."`
}

// NotifyBy selects the methods of notification to a person.
type NotifyBy struct {
	FollowPreference bool      `json:"follow_preference" required:"false" doc:"By the methods that each person prefers."`
	PersonalChannels *[]string `json:"personal_channels" maxItems:"100" maxLength:"255" required:"false" nullable:"true" doc:"Else by these: email, sms, voice, or a chat application with its integration, such as feishu_app:5427276014131; null when preferences are followed."`
}

// Webhook is a chat that is notified.
type Webhook struct {
	Type     string          `json:"type" enum:"feishu,dingtalk,wecom,slack,telegram,zoom,feishu_app,dingtalk_app,wecom_app,slack_app,teams_app" doc:"Kind of chat."`
	Settings WebhookSettings `json:"settings" required:"false" doc:"Its address. Members that are not listed are stored too."`
}

// WebhookSettings is the address of a chat. Token, VerifyToken and SignSecret are secrets: sealed in the database, and
// empty for callers without the permission to manage schedules. Members that were not sent are absent.
type WebhookSettings struct {
	Token        *string  `json:"token,omitzero" maxLength:"8192" secret:"value" doc:"Token, or the whole URL, of a chat robot. A secret."`
	Alias        *string  `json:"alias,omitzero" maxLength:"255" doc:"Name for people."`
	DataSourceID *int64   `json:"data_source_id,omitzero" doc:"Integration of a chat application; integration_id is accepted for it."`
	ChatIDs      []string `json:"chat_ids,omitzero" maxItems:"100" maxLength:"255" doc:"Chats of a chat application."`
	VerifyToken  *string  `json:"verify_token,omitzero" maxLength:"8192" secret:"value" doc:"Second token that some robots require. A secret."`
	SignSecret   *string  `json:"sign_secret,omitzero" maxLength:"8192" secret:"value" doc:"Key with which messages to some robots are signed. A secret."`

	Others map[string]jsontext.Value `json:",embed" hidden:"true" required:"false" secret:"value"` // unknown members
}

var (
	webhookTypes = []string{"feishu", "dingtalk", "wecom", "slack", "telegram", "zoom", "feishu_app", "dingtalk_app", "wecom_app",
		"slack_app", "teams_app"}
	timeOfDay = regexp.MustCompile(`\A([01][0-9]|2[0-3]):[0-5][0-9]\z`)
)

// normalise returns a copy of the notification without an incomplete fixed time; nil where nothing is set. It returns
// fault.Invalid for the first invalid value.
func (n *Notify) normalise(path string) (*Notify, error) {
	if n == nil {
		return nil, nil
	}
	s := *n
	if s.AdvanceInTime != nil && *s.AdvanceInTime < 0 {
		return nil, fault.Invalid(path+".advance_in_time", "must be at least 0, got %d", *s.AdvanceInTime)
	}
	if t := s.FixedTime; t != nil {
		switch {
		case t.Cycle == "" || t.Start == "":
			s.FixedTime = nil
		case t.Cycle != "day":
			return nil, fault.Invalid(path+".fixed_time.cycle", "must be day, got %q", t.Cycle)
		case !timeOfDay.MatchString(t.Start):
			return nil, fault.Invalid(path+".fixed_time.start", "must be a time of day from 00:00 to 23:59, got %q", t.Start)
		}
	}
	if err := s.By.check(path + ".by"); err != nil {
		return nil, err
	}
	if s.Webhooks == nil {
		return &s, nil
	}
	for i, w := range *s.Webhooks {
		if !slices.Contains(webhookTypes, w.Type) {
			return nil, fault.Invalid(fmt.Sprintf("%s.webhooks[%d].type", path, i), "must be one of %s, got %q", fault.Words(webhookTypes),
				w.Type)
		}
	}
	return &s, nil
}

// check refuses methods that do not exist. phone is accepted for voice, because clients send it.
func (b *NotifyBy) check(path string) error {
	if b == nil || b.PersonalChannels == nil {
		return nil
	}
	for i, method := range *b.PersonalChannels {
		if wrong := sender.CheckMethod(method); wrong != "" && method != "phone" {
			return fault.Invalid(fmt.Sprintf("%s.personal_channels[%d]", path, i), "%s", wrong)
		}
	}
	return nil
}

// warnings lists the settings that are accepted but cannot work.
func (n *Notify) warnings() []string {
	var all []string
	if n == nil {
		return nil
	}
	if n.Webhooks != nil {
		for i, w := range *n.Webhooks {
			if missing := w.missing(); len(missing) > 0 {
				all = append(all, fmt.Sprintf("notify.webhooks[%d].settings lacks %s, without which a %s webhook reaches no chat", i,
					strings.Join(missing, " and "), w.Type))
			}
		}
	}
	return all
}

// integration returns the integration of a chat application; 0: none. A value of integration_id that is not an integer
// stays with the other unknown members and names no integration.
func (s *WebhookSettings) integration() (id int64) {
	if s.DataSourceID != nil && *s.DataSourceID != 0 {
		return *s.DataSourceID
	}
	_ = json.Unmarshal(s.Others["integration_id"], &id)
	return id
}

// missing lists the settings that this type of webhook requires and that are empty.
func (w Webhook) missing() (names []string) {
	need := func(name string, isSet bool) {
		if !isSet {
			names = append(names, name)
		}
	}
	s := &w.Settings
	app := strings.HasSuffix(w.Type, "_app")
	if app {
		need("data_source_id", s.integration() != 0)
	} else {
		need("token", s.Token != nil && *s.Token != "")
	}
	if app || w.Type == "telegram" {
		need("chat_ids", len(s.ChatIDs) > 0)
	}
	if w.Type == "zoom" {
		need("verify_token", s.VerifyToken != nil && *s.VerifyToken != "")
	}
	return names
}
