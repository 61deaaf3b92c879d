package alert

import (
	"fmt"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/pipeline"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Pipeline is the alert pipeline of one integration.
type Pipeline struct {
	IntegrationID int64           `json:"integration_id" doc:"The integration."`
	Rules         []pipeline.Rule `json:"rules" maxItems:"50" doc:"Applied from top to bottom."`
	Status        string          `json:"status" enum:"enabled" doc:"Always enabled."`
	CreatorID     int64           `json:"creator_id" doc:"The person who created it."`
	UpdatedBy     int64           `json:"updated_by" doc:"The person who changed it last."`
	CreatedAt     int64           `json:"created_at" doc:"Unix seconds."`
	UpdatedAt     int64           `json:"updated_at" doc:"Unix seconds."`
}

// maxRules is the number of rules that an integration may have.
const maxRules = 50

// Pipelines is how alert pipelines are stored: one for each integration, by its id.
var Pipelines = configstore.Kind[Pipeline]{
	Name: configstore.Pipeline, Section: "alert_pipelines",
	Head: func(p *Pipeline) configstore.Head {
		return configstore.Head{
			ID:        strconv.FormatInt(p.IntegrationID, 10),
			Name:      fmt.Sprintf("alert pipeline of integration %d", p.IntegrationID),
			Creator:   p.CreatorID,
			CreatedAt: p.CreatedAt,
			UpdatedAt: p.UpdatedAt,
		}
	},
	Check: func(_ *db.Tx, at configstore.RecordPath, _ int64, p *Pipeline) error {
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

func (p *Pipeline) check(at configstore.RecordPath) error {
	if n := len(p.Rules); n > maxRules {
		return at.Invalid("rules", "must be at most %d, got %d", maxRules, n)
	}
	for i, r := range p.Rules {
		if path, why := r.Check(); path != "" {
			return at.Element("rules", i).Invalid(path, "%s", why)
		}
	}
	if why := pipeline.CheckAll(p.Rules); why != "" {
		return at.Invalid("rules", "%s", why)
	}
	return nil
}

type pipelineUpsertRequest struct {
	IntegrationID int64           `json:"integration_id" minimum:"1" doc:"The integration."`
	Rules         []pipeline.Rule `json:"rules" maxItems:"50" doc:"Its rules, all of them, applied from top to bottom."`
}

func pipelineUpsert(c *api.Call, in pipelineUpsertRequest) (api.Empty, error) {
	account, key := c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10)
	if err := integration.Permit(c, in.IntegrationID); err != nil {
		return api.Empty{}, err
	}
	p, found, err := Pipelines.Find(c.Tx, account, key)
	if err != nil {
		return api.Empty{}, err
	}
	if !found {
		p = Pipeline{
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
	c.Touched(Pipelines.Name, key, Pipelines.Head(&p).Name)
	return api.Empty{}, Pipelines.Put(c.Tx, account, &p)
}

type pipelineInfoRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The integration."`
}

func pipelineInfo(c *api.Call, in pipelineInfoRequest) (Pipeline, error) {
	if err := integration.Permit(c, in.IntegrationID); err != nil {
		return Pipeline{}, err
	}
	p, found, err := Pipelines.Find(c.Tx, c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10))
	if err == nil && !found {
		err = fault.Missing("the alert pipeline of integration", in.IntegrationID)
	}
	return p, err
}

type pipelineListRequest struct {
	IntegrationIDs []int64 `json:"integration_ids" maxItems:"1000" doc:"The integrations, at most 1000."`
}

func pipelineList(c *api.Call, in pipelineListRequest) (api.Items[Pipeline], error) {
	ids, err := integration.Visible(c, in.IntegrationIDs)
	if err != nil {
		return api.Items[Pipeline]{}, err
	}
	items, err := Pipelines.Each(c.Tx, c.Who.AccountID, ids)
	return api.Items[Pipeline]{Items: items}, err
}
