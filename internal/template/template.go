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

// Created is the template that was created.
type Created struct {
	TemplateID   string `json:"template_id" doc:"The new template."`
	TemplateName string `json:"template_name" doc:"Its name, as it was sent."`
	api.Warnings
}

// UpdateRequest replaces the contents of a template.
type UpdateRequest struct {
	TemplateID string `json:"template_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The template to change."`
	Body
}

// DeleteRequest names a template to delete.
type DeleteRequest struct {
	TemplateID string `json:"template_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The template to delete."`
	api.DryRun
}

// examined is a request with the warnings about its texts.
type examined[T any] struct {
	in       T
	warnings []string
}

// examine checks the texts of a request and renders them with the sample incident, outside of the write transaction.
func examine(_ *api.Call, in Body) (examined[Body], error) {
	warnings, err := in.examine("")
	return examined[Body]{in, warnings}, err
}

func create(c *api.Call, body examined[Body]) (Created, error) {
	t := Template{
		AccountID:  c.Who.AccountID,
		TemplateID: id.Object(c.Now),
		Status:     "enabled",
		CreatorID:  c.Who.PersonID,
		CreatedAt:  c.Unix(),
	}
	return Created{t.TemplateID, body.in.TemplateName, api.Warn(body.warnings)}, body.in.storeIn(c, &t)
}

// examineUpdate is examine for an update.
func examineUpdate(c *api.Call, in UpdateRequest) (examined[UpdateRequest], error) {
	if err := mutable(in.TemplateID); err != nil {
		return examined[UpdateRequest]{}, err
	}
	body, err := examine(c, in.Body)
	return examined[UpdateRequest]{in, body.warnings}, err
}

func update(c *api.Call, request examined[UpdateRequest]) (api.Warnings, error) {
	t, err := Kind.Get(c.Tx, c.Who.AccountID, strings.ToLower(request.in.TemplateID))
	if err != nil {
		return api.Warnings{}, err
	}
	return api.Warn(request.warnings), request.in.storeIn(c, &t)
}

// storeIn replaces the contents of the template by what was sent and stores the template.
func (b Body) storeIn(c *api.Call, t *Template) error {
	if err := team.Table.Need(c.Tx, c.Who.AccountID, "team_id", b.TeamID); err != nil {
		return err
	}
	taken, err := Kind.Named(c.Tx, c.Who.AccountID, b.TemplateName, t.TemplateID)
	if err != nil {
		return err
	}
	if taken {
		return fault.Invalid("template_name", "another template has the name %q", b.TemplateName)
	}
	t.TeamID = b.TeamID
	t.TemplateName = b.TemplateName
	t.Description = b.Description
	t.Texts = b.Texts
	t.UpdatedAt, t.UpdatedBy = c.Unix(), c.Who.PersonID
	c.Touched(Kind.Name, t.TemplateID, t.TemplateName)
	return Kind.Put(c.Tx, c.Who.AccountID, t)
}

// InfoRequest names a template.
type InfoRequest struct {
	TemplateID string `json:"template_id,omitzero" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The template; 000000000000000000000001 or 6321aad26c12104586a88916 is the preset."`
	ID         string `json:"id,omitzero" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Another name of template_id, used where that is absent."`
}

// Check refuses a request that names no template.
func (in InfoRequest) Check() error {
	if in.TemplateID == "" && in.ID == "" {
		return fault.Invalid("template_id", "is required")
	}
	return nil
}

func info(c *api.Call, in InfoRequest) (Template, error) {
	return Find(c.Tx, c.Who.AccountID, cmp.Or(in.TemplateID, in.ID))
}

// ListRequest asks for a page of templates.
type ListRequest struct {
	api.CursorRequest
	OrderBy   string  `json:"orderby,omitzero" enum:"created_at,updated_at" doc:"What to order by; absent: created_at."`
	Asc       bool    `json:"asc,omitzero" doc:"Oldest first."`
	IsMyTeam  bool    `json:"is_my_team,omitzero" doc:"Only templates of the caller's teams."`
	TeamIDs   []int64 `json:"team_ids,omitzero" maxItems:"1000" doc:"Only templates of these teams; empty: of any."`
	CreatorID int64   `json:"creator_id,omitzero" minimum:"0" doc:"Only templates that this person created."`
	Query     string  `json:"query,omitzero" maxLength:"100" doc:"Part of the name, in upper or lower case."`
}

func list(c *api.Call, in ListRequest) (api.CursorPage[Template], error) {
	return api.ObjectPage(c, Kind, configstore.Query{
		Search: in.Query, Teams: in.TeamIDs, MyTeam: in.IsMyTeam, Person: c.Who.PersonID, Creator: in.CreatorID,
		ByUpdate: in.OrderBy == "updated_at", Ascending: in.Asc,
	}, in.CursorRequest, 20)
}

// PreviewRequest has a text to render.
type PreviewRequest struct {
	Content string `json:"content" maxLength:"65536" doc:"The template's text."`
	Type    string `json:"type" enum:"dingtalk_app,feishu_app,wecom_app,slack_app,teams_app,feishu,dingtalk,wecom,telegram,slack,zoom,email,sms,voice" doc:"The kind of message it is for."`
}

// Previewed is the rendered text, or why there is none.
type Previewed struct {
	Content string `json:"content" doc:"The rendered text; empty when it fails."`
	Success bool   `json:"success" doc:"Whether it is well formed and can be rendered."`
	Message string `json:"message" doc:"Why not, with the line; empty on success."`
}

func preview(_ *api.Call, in PreviewRequest) (Previewed, error) {
	t, err := render.Parse(in.Content, targetOf(in.Type))
	if err != nil {
		return Previewed{Message: err.Error()}, nil
	}
	content, err := t.Render(render.Sample)
	if err != nil {
		return Previewed{Message: err.Error()}, nil
	}
	return Previewed{Content: string(content), Success: true}, nil
}

// shown returns what preview has rendered.
func shown(_ *api.Call, reply Previewed) (Previewed, error) { return reply, nil }

func remove(c *api.Call, in DeleteRequest) (api.Removal, error) {
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
