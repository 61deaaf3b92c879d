package template

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/render"
)

type infoRequest struct {
	TemplateID string `json:"template_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The template; 000000000000000000000001 is the preset."`
}

func info(c *api.Call, in infoRequest) (Template, error) {
	return Find(c.Tx, c.Who.AccountID, in.TemplateID)
}

type listRequest struct {
	api.Page
	OrderBy   string  `json:"orderby,omitzero" enum:"created_at,updated_at" doc:"What to order by; absent: created_at."`
	Asc       bool    `json:"asc,omitzero" doc:"Oldest first."`
	IsMyTeam  bool    `json:"is_my_team,omitzero" doc:"Only templates of teams the caller is in."`
	TeamIDs   []int64 `json:"team_ids,omitzero" maxItems:"1000" doc:"Only templates of these teams; empty: of any."`
	CreatorID int64   `json:"creator_id,omitzero" minimum:"0" doc:"Only templates that this person made."`
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
	Content string `json:"content" doc:"What it says."`
	Success bool   `json:"success" doc:"Whether it can be read and filled in."`
	Message string `json:"message" doc:"Why not, with the line; empty when it can."`
}

func preview(_ *api.Call, in previewRequest) (previewed, error) {
	t, err := render.Parse(in.Content, targetOf(in.Type))
	if err == nil {
		var content render.Markup
		if content, err = t.Render(render.Sample); err == nil {
			return previewed{Content: string(content), Success: true}, nil
		}
	}
	return previewed{Message: err.Error()}, nil
}
