// Package enrichment stores the rules that add and remove labels of an integration's events before they are decided
// about. internal/core/pipeline applies them.
//
// It must never store a rule that cannot be applied.
package enrichment

import (
	"embed"
	"fmt"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/core/pipeline"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops returns the operations of the package.
func Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path: "/enrichment/upsert", Allow: []auth.Permission{auth.ChannelsManage, auth.IntegrationsManage},
			Effect: api.Write, Audit: "enrichment:write:upsert",
			Doc:   "Sets the enrichment rules of an integration, all of them.",
			Notes: "Rules of kind mapping, and g_json, are rejected: there are no mapping tables yet.",
			Example: `{"integration_id": 6113996590131, "rules": [{"kind": "extraction",` +
				` "settings": {"source_field": "title", "result_label": "service", "pattern": "^(?P<result>[a-z]+):"}}]}`,
			Do: api.Do(upsert),
		},
		{
			Path:    "/enrichment/info",
			Allow:   []auth.Permission{auth.ChannelsRead, auth.ChannelsManage, auth.IntegrationsRead, auth.IntegrationsManage},
			Effect:  api.Snapshot,
			Doc:     "Shows the enrichment rules of an integration; ResourceNotFound when it has none.",
			Example: `{"integration_id": 6113996590131}`, Do: api.Do(info),
		},
		{
			Path: "/enrichment/list", Allow: []auth.Permission{auth.IntegrationsRead, auth.IntegrationsManage},
			Effect:  api.Snapshot,
			Doc:     "Shows the enrichment rules of several integrations, in the order of the request; those without any are left out.",
			Example: `{"integration_ids": [6113996590131]}`, Do: api.Do(list),
		},
	})
}

// Rules is the enrichment of one integration.
type Rules struct {
	IntegrationID int64                 `json:"integration_id" doc:"The integration."`
	Rules         []pipeline.Enrichment `json:"rules" maxItems:"50" doc:"Applied from top to bottom."`
	Status        string                `json:"status" enum:"enabled" doc:"Always enabled."`
	CreatorID     int64                 `json:"creator_id" doc:"The person who created it."`
	UpdatedBy     int64                 `json:"updated_by" doc:"The person who changed it last."`
	CreatedAt     int64                 `json:"created_at" doc:"Unix seconds."`
	UpdatedAt     int64                 `json:"updated_at" doc:"Unix seconds."`
}

// maxEnrichments is the number of rules that an integration may have.
const maxEnrichments = 50

// Kind is how enrichments are stored: one for each integration, by its id.
var Kind = configstore.Kind[Rules]{
	Name: configstore.Enrichment, Section: "enrichments",
	Head: func(p *Rules) configstore.Head {
		return configstore.Head{
			ID:        strconv.FormatInt(p.IntegrationID, 10),
			Name:      fmt.Sprintf("enrichment of integration %d", p.IntegrationID),
			Creator:   p.CreatorID,
			CreatedAt: p.CreatedAt,
			UpdatedAt: p.UpdatedAt,
		}
	},
	Check: func(_ *db.Tx, at configstore.RecordPath, _ int64, p *Rules) error {
		if p.Status == "" {
			p.Status = "enabled"
		}
		return configstore.FirstError(
			at.AtLeast("integration_id", p.IntegrationID, 1),
			at.OneOf("status", p.Status, "enabled"),
			p.check(at),
		)
	},
}

func (p *Rules) check(at configstore.RecordPath) error {
	if n := len(p.Rules); n > maxEnrichments {
		return at.Invalid("rules", "must be at most %d, got %d", maxEnrichments, n)
	}
	for i, r := range p.Rules {
		if path, why := r.Check(); path != "" {
			return at.Element("rules", i).Invalid(path, "%s", why)
		}
	}
	if why := pipeline.CheckAllEnrichments(p.Rules); why != "" {
		return at.Invalid("rules", "%s", why)
	}
	return nil
}

type upsertRequest struct {
	IntegrationID int64                 `json:"integration_id" minimum:"1" doc:"The integration."`
	Rules         []pipeline.Enrichment `json:"rules" maxItems:"50" doc:"Its rules, all of them, applied from top to bottom."`
}

func upsert(c *api.Call, in upsertRequest) (api.Empty, error) {
	account, key := c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10)
	if err := integration.Permit(c, in.IntegrationID); err != nil {
		return api.Empty{}, err
	}
	p, found, err := Kind.Find(c.Tx, account, key)
	if err != nil {
		return api.Empty{}, err
	}
	if !found {
		p = Rules{
			IntegrationID: in.IntegrationID,
			Status:        "enabled",
			CreatorID:     c.Who.PersonID,
			CreatedAt:     c.Unix(),
		}
	}
	p.Rules, p.UpdatedAt, p.UpdatedBy = in.Rules, c.Unix(), c.Who.PersonID
	if err := p.check(""); err != nil {
		return api.Empty{}, err
	}
	c.Touched(configstore.Integration, in.IntegrationID, "")
	c.Touched(Kind.Name, key, Kind.Head(&p).Name)
	return api.Empty{}, Kind.Put(c.Tx, account, &p)
}

type infoRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The integration."`
}

func info(c *api.Call, in infoRequest) (Rules, error) {
	if err := integration.Permit(c, in.IntegrationID); err != nil {
		return Rules{}, err
	}
	p, found, err := Kind.Find(c.Tx, c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10))
	if err == nil && !found {
		err = fault.Missing("the enrichment of integration", in.IntegrationID)
	}
	return p, err
}

type listRequest struct {
	IntegrationIDs []int64 `json:"integration_ids" maxItems:"1000" doc:"The integrations, at most 1000."`
}

func list(c *api.Call, in listRequest) (api.Items[Rules], error) {
	ids, err := integration.Visible(c, in.IntegrationIDs)
	if err != nil {
		return api.Items[Rules]{}, err
	}
	items, err := Kind.Each(c.Tx, c.Who.AccountID, ids)
	return api.Items[Rules]{Items: items}, err
}
