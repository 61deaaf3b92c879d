// Package enrichment keeps the rules by which the events of an integration get further labels before anything
// else is decided about them. Carrying them out is internal/core/pipeline's.
//
// It must never keep a rule that cannot be carried out.
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

// Ops is the room's table of contents.
func Ops() []api.Op {
	const one = `{"integration_id": 6113996590131}`
	return api.WithReplies(golden, []api.Op{
		{Path: "/enrichment/upsert", Allow: []auth.Permission{auth.ChannelsManage, auth.IntegrationsManage}, Effect: api.Write, Audit: "enrichment:write:upsert", Doc: "Sets the enrichment rules of an integration, all of them.",
			Notes:   "Rules of kind mapping, and g_json, are refused: there are no mapping tables yet.",
			Example: `{"integration_id": 6113996590131, "rules": [{"kind": "extraction", "settings": {"source_field": "title", "result_label": "service", "pattern": "^(?P<result>[a-z]+):"}}]}`, Do: api.Do(enrichmentUpsert)},
		{Path: "/enrichment/info", Allow: []auth.Permission{auth.ChannelsRead, auth.ChannelsManage, auth.IntegrationsRead, auth.IntegrationsManage}, Effect: api.Snapshot,
			Doc: "Shows the enrichment rules of an integration; ResourceNotFound when it has none.", Example: one, Do: api.Do(enrichmentInfo)},
		{Path: "/enrichment/list", Allow: []auth.Permission{auth.IntegrationsRead, auth.IntegrationsManage}, Effect: api.Snapshot,
			Doc: "Shows the enrichment rules of several integrations, in the order of the request; those without any are left out.", Example: `{"integration_ids": [6113996590131]}`, Do: api.Do(enrichmentList)},
	})
}

// Rules is the enrichment of one integration.
type Rules struct {
	IntegrationID int64                 `json:"integration_id" doc:"The integration."`
	Rules         []pipeline.Enrichment `json:"rules" doc:"Applied from top to bottom."`
	Status        string                `json:"status" enum:"enabled" doc:"Always enabled."`
	CreatorID     int64                 `json:"creator_id" doc:"The person who made it."`
	UpdatedBy     int64                 `json:"updated_by" doc:"The person who changed it last."`
	CreatedAt     int64                 `json:"created_at" doc:"Unix seconds."`
	UpdatedAt     int64                 `json:"updated_at" doc:"Unix seconds."`
}

// maxEnrichments is how many rules an integration may have.
const maxEnrichments = 50

// Kind is how they are kept: one for each integration, by its id.
var Kind = configstore.Kind[Rules]{
	Name: configstore.Enrichment, Section: "enrichments",
	Head: func(p *Rules) configstore.Head {
		return configstore.Head{ID: strconv.FormatInt(p.IntegrationID, 10), Name: fmt.Sprintf("enrichment of integration %d", p.IntegrationID), Creator: p.CreatorID, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt}
	},
	Check: func(_ *db.Tx, at configstore.RecordPath, _ int64, p *Rules) error {
		if p.Status == "" {
			p.Status = "enabled"
		}
		return configstore.FirstError(at.AtLeast("integration_id", p.IntegrationID, 1), at.OneOf("status", p.Status, "enabled"), p.check(at))
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

type enrichmentUpsertRequest struct {
	IntegrationID int64                 `json:"integration_id" minimum:"1" doc:"The integration."`
	Rules         []pipeline.Enrichment `json:"rules" maxItems:"50" doc:"Its rules, all of them, applied from top to bottom."`
}

func enrichmentUpsert(c *api.Call, in enrichmentUpsertRequest) (api.Empty, error) {
	account, key := c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10)
	if err := integration.Permit(c, in.IntegrationID); err != nil {
		return api.Empty{}, err
	}
	p, found, err := Kind.Find(c.Tx, account, key)
	if err != nil {
		return api.Empty{}, err
	}
	if !found {
		p = Rules{IntegrationID: in.IntegrationID, Status: "enabled", CreatorID: c.Who.PersonID, CreatedAt: c.Unix()}
	}
	p.Rules, p.UpdatedAt, p.UpdatedBy = in.Rules, c.Unix(), c.Who.PersonID
	if err := p.check(""); err != nil {
		return api.Empty{}, err
	}
	c.Touched(configstore.Integration, in.IntegrationID, "")
	c.Touched(Kind.Name, key, Kind.Head(&p).Name)
	return api.Empty{}, Kind.Put(c.Tx, account, &p)
}

type enrichmentInfoRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The integration."`
}

func enrichmentInfo(c *api.Call, in enrichmentInfoRequest) (Rules, error) {
	if err := integration.Permit(c, in.IntegrationID); err != nil {
		return Rules{}, err
	}
	p, found, err := Kind.Find(c.Tx, c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10))
	if err == nil && !found {
		err = fault.Missing("the enrichment of integration", in.IntegrationID)
	}
	return p, err
}

type enrichmentListRequest struct {
	IntegrationIDs []int64 `json:"integration_ids" maxItems:"1000" doc:"The integrations, at most 1000."`
}

func enrichmentList(c *api.Call, in enrichmentListRequest) (api.Items[Rules], error) {
	ids, err := integration.Visible(c, in.IntegrationIDs)
	if err != nil {
		return api.Items[Rules]{}, err
	}
	items, err := Kind.Each(c.Tx, c.Who.AccountID, ids)
	return api.Items[Rules]{Items: items}, err
}
