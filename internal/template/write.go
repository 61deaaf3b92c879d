package template

import (
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// Body is what a caller says of a template.
type Body struct {
	TeamID       int64  `json:"team_id,omitzero" minimum:"0" doc:"Owning team; absent or 0: none."`
	TemplateName string `json:"template_name" minLength:"1" maxLength:"39" doc:"Unique in the account, 1 to 39 characters."`
	Description  string `json:"description,omitzero" maxLength:"500" doc:"At most 500 characters."`
	Texts
}

type created struct {
	TemplateID   string `json:"template_id" doc:"The new template."`
	TemplateName string `json:"template_name" doc:"Its name, as it was sent."`
	api.Warnings
}

type updateRequest struct {
	TemplateID string `json:"template_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The template to change."`
	Body
}

type deleteRequest struct {
	TemplateID string `json:"template_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The template to delete."`
	api.DryRun
}

func create(c *api.Call, in Body) (created, error) {
	t := Template{AccountID: c.Who.AccountID, TemplateID: id.Object(c.Now), Status: "enabled", CreatorID: c.Who.PersonID, CreatedAt: c.Unix()}
	warnings, err := in.onto(c, &t)
	return created{t.TemplateID, t.TemplateName, api.Warn(warnings)}, err
}

func update(c *api.Call, in updateRequest) (api.Warnings, error) {
	if err := mutable(in.TemplateID); err != nil {
		return api.Warnings{}, err
	}
	t, err := Kind.Get(c.Tx, c.Who.AccountID, strings.ToLower(in.TemplateID))
	if err != nil {
		return api.Warnings{}, err
	}
	warnings, err := in.onto(c, &t)
	return api.Warn(warnings), err
}

// onto puts what was sent into the template and stores it.
func (b Body) onto(c *api.Call, t *Template) (warnings []string, err error) {
	if warnings, err = b.problems(""); err != nil {
		return nil, err
	}
	if err := configstore.Need(c.Tx, c.Who.AccountID, "team_id", configstore.RefTo(configstore.Team, b.TeamID)); err != nil {
		return nil, err
	}
	taken, err := Kind.Named(c.Tx, c.Who.AccountID, b.TemplateName, t.TemplateID)
	if err != nil {
		return nil, err
	}
	if taken {
		return nil, fault.Invalid("template_name", "another template is called %q", b.TemplateName)
	}
	t.TeamID, t.TemplateName, t.Description, t.Texts = b.TeamID, b.TemplateName, b.Description, b.Texts
	t.UpdatedAt, t.UpdatedBy = c.Unix(), c.Who.PersonID
	c.Touched(Kind.Name, t.TemplateID, t.TemplateName)
	return warnings, Kind.Put(c.Tx, c.Who.AccountID, t)
}

func remove(c *api.Call, in deleteRequest) (api.Removal, error) {
	if err := mutable(in.TemplateID); err != nil {
		return api.Removal{}, err
	}
	t, err := Kind.Get(c.Tx, c.Who.AccountID, strings.ToLower(in.TemplateID))
	if err != nil {
		return api.Removal{}, err
	}
	c.Removed(Kind.Name, t.TemplateID, t.TemplateName)
	if err := configstore.RefuseReferenced(c.Tx, c.Who.AccountID, Kind.Name, t.TemplateID); err != nil {
		return api.Removal{}, err
	}
	return api.Removal{}, Kind.Delete(c.Tx, c.Who.AccountID, t.TemplateID)
}
