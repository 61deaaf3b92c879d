package template

import (
	"cmp"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/render"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
	"tocsin/internal/team"
)

// Body is what a caller sends of a template.
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
	t := Template{
		AccountID:  c.Who.AccountID,
		TemplateID: id.Object(c.Now),
		Status:     "enabled",
		CreatorID:  c.Who.PersonID,
		CreatedAt:  c.Unix(),
	}
	warnings, err := in.storeIn(c, &t)
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
	warnings, err := in.storeIn(c, &t)
	return api.Warn(warnings), err
}

// storeIn replaces the contents of the template by what was sent, checks them and stores the template. The warnings
// name the texts that fail on the sample incident.
func (b Body) storeIn(c *api.Call, t *Template) (warnings []string, err error) {
	if warnings, err = b.problems(""); err != nil {
		return nil, err
	}
	if err := team.Table.Need(c.Tx, c.Who.AccountID, "team_id", b.TeamID); err != nil {
		return nil, err
	}
	taken, err := Kind.Named(c.Tx, c.Who.AccountID, b.TemplateName, t.TemplateID)
	if err != nil {
		return nil, err
	}
	if taken {
		return nil, fault.Invalid("template_name", "another template has the name %q", b.TemplateName)
	}
	t.TeamID, t.TemplateName, t.Description, t.Texts = b.TeamID, b.TemplateName, b.Description, b.Texts
	t.UpdatedAt, t.UpdatedBy = c.Unix(), c.Who.PersonID
	c.Touched(Kind.Name, t.TemplateID, t.TemplateName)
	return warnings, Kind.Put(c.Tx, c.Who.AccountID, t)
}

type infoRequest struct {
	TemplateID string `json:"template_id,omitzero" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The template; 000000000000000000000001 or 6321aad26c12104586a88916 is the preset."`
	ID         string `json:"id,omitzero" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Another name of template_id, used where that is absent."`
}

// Check refuses a request that names no template.
func (in infoRequest) Check() error {
	if in.TemplateID == "" && in.ID == "" {
		return fault.Invalid("template_id", "is required")
	}
	return nil
}

func info(c *api.Call, in infoRequest) (Template, error) {
	return Find(c.Tx, c.Who.AccountID, cmp.Or(in.TemplateID, in.ID))
}

type listRequest struct {
	api.Page
	OrderBy   string  `json:"orderby,omitzero" enum:"created_at,updated_at" doc:"What to order by; absent: created_at."`
	Asc       bool    `json:"asc,omitzero" doc:"Oldest first."`
	IsMyTeam  bool    `json:"is_my_team,omitzero" doc:"Only templates of the caller's teams."`
	TeamIDs   []int64 `json:"team_ids,omitzero" maxItems:"1000" doc:"Only templates of these teams; empty: of any."`
	CreatorID int64   `json:"creator_id,omitzero" minimum:"0" doc:"Only templates that this person created."`
	Query     string  `json:"query,omitzero" maxLength:"100" doc:"Part of the name, in upper or lower case."`
}

func list(c *api.Call, in listRequest) (api.Paged[Template], error) {
	limit, offset := in.Window(20)
	items, total, err := Kind.Page(c.Tx, c.Who.AccountID, configstore.Query{
		Search: in.Query, Teams: in.TeamIDs, MyTeam: in.IsMyTeam, Person: c.Who.PersonID, Creator: in.CreatorID,
		ByUpdate: in.OrderBy == "updated_at", Ascending: in.Asc, Limit: limit, Offset: offset,
	})
	return api.NewPaged(items, offset, total), err
}

type previewRequest struct {
	Content string `json:"content" maxLength:"65536" doc:"The template's text."`
	Type    string `json:"type" enum:"dingtalk_app,feishu_app,wecom_app,slack_app,teams_app,feishu,dingtalk,wecom,telegram,slack,zoom,email,sms,voice" doc:"The kind of message it is for."`
}

type previewed struct {
	Content string `json:"content" doc:"The rendered text; empty when it fails."`
	Success bool   `json:"success" doc:"Whether it is well formed and can be rendered."`
	Message string `json:"message" doc:"Why not, with the line; empty on success."`
}

func preview(_ *api.Call, in previewRequest) (previewed, error) {
	t, err := render.Parse(in.Content, targetOf(in.Type))
	if err != nil {
		return previewed{Message: err.Error()}, nil
	}
	content, err := t.Render(render.Sample)
	if err != nil {
		return previewed{Message: err.Error()}, nil
	}
	return previewed{Content: string(content), Success: true}, nil
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
