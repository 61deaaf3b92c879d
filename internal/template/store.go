package template

import (
	"reflect"
	"strings"

	"tocsin/internal/configstore"
	"tocsin/internal/core/render"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Preset is the id of the template that every account has. It is not stored and cannot be changed.
const Preset = "000000000000000000000001"

// PublicPreset is another id of the preset, the one that clients of the public API have built in.
const PublicPreset = "6321aad26c12104586a88916"

// isPreset reports whether an id, in upper or lower case, is one of the preset's.
func isPreset(id string) bool { return id == Preset || strings.EqualFold(id, PublicPreset) }

// Template is a notification template.
type Template struct {
	AccountID    int64  `json:"account_id" doc:"Owning account."`
	TeamID       int64  `json:"team_id" doc:"Owning team; 0: none."`
	TemplateID   string `json:"template_id" maxLength:"24" doc:"24 hexadecimal digits."`
	TemplateName string `json:"template_name" maxLength:"39" doc:"1 to 39 characters, unique in the account."`
	Description  string `json:"description" maxLength:"500" doc:"At most 500 characters."`
	Texts
	Status    string `json:"status" enum:"enabled,disabled,deleted" doc:"Always enabled: a template is in use or deleted."`
	CreatorID int64  `json:"creator_id" doc:"The person who created it; 0: not known."`
	UpdatedBy int64  `json:"updated_by" doc:"The person who changed it last."`
	CreatedAt int64  `json:"created_at" doc:"Unix seconds."`
	UpdatedAt int64  `json:"updated_at" doc:"Unix seconds."`
}

// Texts are the templates for the kinds of messages. Where one is empty the preset's is used.
type Texts struct {
	Email       string `json:"email" required:"false" maxLength:"65536" doc:"E-mail, HTML."`
	SMS         string `json:"sms" required:"false" maxLength:"65536" doc:"Text message."`
	Voice       string `json:"voice" required:"false" maxLength:"65536" doc:"Phone call: the text that is read out."`
	DingTalk    string `json:"dingtalk" required:"false" maxLength:"65536" doc:"DingTalk robot."`
	WeCom       string `json:"wecom" required:"false" maxLength:"65536" doc:"WeCom robot."`
	Feishu      string `json:"feishu" required:"false" maxLength:"65536" doc:"Feishu or Lark robot."`
	FeishuApp   string `json:"feishu_app" required:"false" maxLength:"65536" doc:"Feishu or Lark app."`
	DingTalkApp string `json:"dingtalk_app" required:"false" maxLength:"65536" doc:"DingTalk app."`
	WeComApp    string `json:"wecom_app" required:"false" maxLength:"65536" doc:"WeCom app."`
	SlackApp    string `json:"slack_app" required:"false" maxLength:"65536" doc:"Slack app."`
	TeamsApp    string `json:"teams_app" required:"false" maxLength:"65536" doc:"Microsoft Teams app."`
	Telegram    string `json:"telegram" required:"false" maxLength:"65536" doc:"Telegram bot."`
	Slack       string `json:"slack" required:"false" maxLength:"65536" doc:"Slack incoming webhook."`
	Zoom        string `json:"zoom" required:"false" maxLength:"65536" doc:"Zoom chat bot."`
}

// maxText is the number of characters that a text may have, the same as in the tags.
const maxText = 65536

// Of returns the text for a kind of message, by its wire name; empty when there is no text or no such kind.
func (t Texts) Of(kind string) (text string) {
	t.each(func(name, source string) {
		if name == kind {
			text = source
		}
	})
	return text
}

// Set sets the text for a kind of message, by its wire name. Without such a kind it does nothing.
func (t *Texts) Set(kind, text string) {
	v := reflect.ValueOf(t).Elem()
	for i := range v.NumField() {
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); name == kind {
			v.Field(i).SetString(text)
		}
	}
}

// each calls fn with the wire name and the source of every text.
func (t Texts) each(fn func(name, source string)) {
	v := reflect.ValueOf(t)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		fn(name, v.Field(i).String())
	}
}

// check returns the first text that is malformed or too long, as fault.Invalid with the line. It parses, which takes up to
// 0.2 s for each text: it must not be called in a transaction.
func (t Texts) check(at configstore.RecordPath) (err error) {
	t.each(func(name, source string) {
		if err == nil {
			_, err = t.parsed(at, name, source)
		}
	})
	return err
}

func (t Texts) parsed(at configstore.RecordPath, name, source string) (*render.Template, error) {
	if source == "" {
		return nil, nil
	}
	if err := at.Length(name, source, 0, maxText); err != nil {
		return nil, err
	}
	parsed, err := render.Parse(source, targetOf(name))
	if err != nil {
		return nil, at.Invalid(name, "%v", err)
	}
	return parsed, nil
}

// examine is check with warnings for texts that fail on the sample incident or look like a card of the service. All texts
// share one allowance.
func (t Texts) examine(at configstore.RecordPath) (warnings []string, err error) {
	all := render.NewAllowance()
	t.each(func(name, source string) {
		var parsed *render.Template
		if err == nil {
			parsed, err = t.parsed(at, name, source)
		}
		if parsed == nil {
			return
		}
		if _, wrong := parsed.RenderWithin(all, render.Sample); wrong != nil {
			warnings = append(warnings, name+": fails on the sample incident: "+wrong.Error())
		}
		if text := strings.TrimSpace(source); strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "{{") {
			warnings = append(warnings, name+": looks like JSON, which is sent as text: cards are not supported")
		}
	})
	return warnings, err
}

// targetOf returns the target for which texts of a kind are rendered.
func targetOf(kind string) *render.Target {
	t, _ := render.For(kind)
	return t
}

// Kind is how templates are stored.
var Kind = configstore.Kind[Template]{
	Name: configstore.Template, Section: "templates",
	Head: func(t *Template) configstore.Head {
		return configstore.Head{
			ID:        t.TemplateID,
			Name:      t.TemplateName,
			Team:      t.TeamID,
			Creator:   t.CreatorID,
			CreatedAt: t.CreatedAt,
			UpdatedAt: t.UpdatedAt,
		}
	},
	Refs: func(t *Template) []configstore.Target {
		return []configstore.Target{configstore.RefTo(configstore.Team, t.TeamID)}
	},
	Check: func(_ *db.Tx, at configstore.RecordPath, account int64, t *Template) error {
		if t.Status == "" {
			t.Status = "enabled"
		}
		if isPreset(t.TemplateID) {
			return at.Invalid("template_id", "%s is the preset, which a file cannot change", t.TemplateID)
		}
		if err := configstore.FirstError(
			at.Account(t.AccountID, account),
			at.Object("template_id", t.TemplateID),
			at.Length("template_name", t.TemplateName, 1, 39),
			at.Length("description", t.Description, 0, 500),
			at.AtLeast("team_id", t.TeamID, 0),
			at.OneOf("status", t.Status, "enabled", "disabled"),
			at.AtLeast("created_at", t.CreatedAt, 0),
			at.AtLeast("updated_at", t.UpdatedAt, 0),
		); err != nil {
			return err
		}
		t.AccountID, t.TemplateID = account, strings.ToLower(t.TemplateID)
		return nil
	},
	Examine: func(at configstore.RecordPath, t *Template) error { return t.check(at) },
}

// Find returns a template, the preset too, under the id by which it was asked for. The error is ResourceNotFound when the
// account has none of this id.
func Find(tx *db.Tx, account int64, id string) (Template, error) {
	if isPreset(id) {
		return preset(account, id), nil
	}
	return Kind.Get(tx, account, strings.ToLower(id))
}

// Need returns fault.Invalid for a field that names a template that the account does not have.
func Need(tx *db.Tx, account int64, field, id string) error {
	if isPreset(id) {
		return nil
	}
	return configstore.Need(tx, account, field, configstore.RefTo(configstore.Template, strings.ToLower(id)))
}

func preset(account int64, id string) Template {
	t := Template{
		AccountID:    account,
		TemplateID:   id,
		TemplateName: "Preset",
		Description:  "The texts that are used where a template has none.",
		Status:       "enabled",
	}
	v := reflect.ValueOf(&t.Texts).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		v.Field(i).SetString(render.Preset[name])
	}
	return t
}

// mutable rejects the id of the preset.
func mutable(id string) error {
	if isPreset(id) {
		return fault.Invalid("template_id", "%s is the preset, which cannot be changed", id)
	}
	return nil
}
