// Package template keeps the account's notification templates: for each kind of message the text that an
// incident is told in (docs/templates.md). Filling them in is internal/core/render's.
//
// It must never store a template that cannot be read.
package template

import (
	"reflect"
	"strings"

	"tocsin/internal/configstore"
	"tocsin/internal/core/render"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Preset is the id of the template that every account has without making it. It cannot be changed.
const Preset = "000000000000000000000001"

// Template is a notification template.
type Template struct {
	AccountID    int64  `json:"account_id" doc:"Owning account."`
	TeamID       int64  `json:"team_id" doc:"Owning team; 0: none."`
	TemplateID   string `json:"template_id" doc:"24 hexadecimal digits."`
	TemplateName string `json:"template_name" doc:"1 to 39 characters, unique in the account."`
	Description  string `json:"description" doc:"At most 500 characters."`
	Texts
	Status    string `json:"status" enum:"enabled,disabled,deleted" doc:"Always enabled: a template is deleted or in use."`
	CreatorID int64  `json:"creator_id" doc:"The person who made it; 0: not known."`
	UpdatedBy int64  `json:"updated_by" doc:"The person who changed it last."`
	CreatedAt int64  `json:"created_at" doc:"Unix seconds."`
	UpdatedAt int64  `json:"updated_at" doc:"Unix seconds."`
}

// Texts are the templates for the kinds of messages. An empty one stands for the preset's.
type Texts struct {
	Email       string `json:"email" required:"false" maxLength:"65536" doc:"E-mail, HTML."`
	SMS         string `json:"sms" required:"false" maxLength:"65536" doc:"Text message."`
	Voice       string `json:"voice" required:"false" maxLength:"65536" doc:"What a call says."`
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

// maxText is how many characters a text may have, as the tags have it.
const maxText = 65536

// Of is the text for a kind of message, by its wire name; empty when there is none or no such kind.
func (t Texts) Of(kind string) (text string) {
	t.each(func(name, source string) {
		if name == kind {
			text = source
		}
	})
	return text
}

// each calls fn with the wire name and the source of every text.
func (t Texts) each(fn func(name, source string)) {
	v := reflect.ValueOf(t)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		fn(name, v.Field(i).String())
	}
}

// problems are the first text that cannot be read, as an error, and those that fail on the sample incident,
// as warnings.
func (t Texts) problems(at configstore.RecordPath) (warnings []string, err error) {
	t.each(func(name, source string) {
		if source == "" || err != nil {
			return
		}
		if err = at.Length(name, source, 0, maxText); err != nil {
			return
		}
		parsed, wrong := render.Parse(source, targetOf(name))
		if wrong != nil {
			err = at.Invalid(name, "%v", wrong)
			return
		}
		if _, wrong = parsed.Render(render.Sample); wrong != nil {
			warnings = append(warnings, name+": fails on the sample incident: "+wrong.Error())
		}
	})
	return warnings, err
}

// targetOf is where texts of a kind are read.
func targetOf(kind string) *render.Target {
	t, _ := render.For(kind)
	return t
}

// Kind is how templates are kept.
var Kind = configstore.Kind[Template]{
	Name: configstore.Template, Section: "templates",
	Head: func(t *Template) configstore.Head {
		return configstore.Head{ID: t.TemplateID, Name: t.TemplateName, Team: t.TeamID, Creator: t.CreatorID, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt}
	},
	Refs: func(t *Template) []configstore.Target {
		return []configstore.Target{configstore.RefTo(configstore.Team, t.TeamID)}
	},
	Check: func(_ *db.Tx, at configstore.RecordPath, account int64, t *Template) error {
		if t.Status == "" {
			t.Status = "enabled"
		}
		if t.TemplateID == Preset {
			return at.Invalid("template_id", "%s is the preset, which no file changes", Preset)
		}
		if err := configstore.FirstError(
			at.Account(t.AccountID, account), at.Object("template_id", t.TemplateID), at.Length("template_name", t.TemplateName, 1, 39),
			at.Length("description", t.Description, 0, 500), at.AtLeast("team_id", t.TeamID, 0), at.OneOf("status", t.Status, "enabled", "disabled"),
			at.AtLeast("created_at", t.CreatedAt, 0), at.AtLeast("updated_at", t.UpdatedAt, 0),
		); err != nil {
			return err
		}
		t.AccountID, t.TemplateID = account, strings.ToLower(t.TemplateID)
		_, err := t.problems(at)
		return err
	},
}

// Find reads a template, the preset too.
func Find(tx *db.Tx, account int64, id string) (Template, error) {
	if id = strings.ToLower(id); id == Preset {
		return preset(account), nil
	}
	return Kind.Get(tx, account, id)
}

func preset(account int64) Template {
	t := Template{AccountID: account, TemplateID: Preset, TemplateName: "Preset", Description: "What is used where a template has no text of its own.", Status: "enabled"}
	v := reflect.ValueOf(&t.Texts).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		v.Field(i).SetString(render.Preset[name])
	}
	return t
}

// mutable refuses to change the preset.
func mutable(id string) error {
	if id == Preset {
		return fault.Invalid("template_id", "%s is the preset, which cannot be changed", Preset)
	}
	return nil
}
