package integration

import (
	"fmt"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Rule is a rule for the events of an integration.
type Rule interface {
	Check() (path, why string) // the path of the member that is wrong, and why
	Warnings() []string        // what is probably not meant, each with the path of its member
}

// Rules are the rules of one kind that an integration has, such as its alert pipeline.
type Rules[R Rule] struct {
	IntegrationID int64  `json:"integration_id" doc:"The integration."`
	Rules         []R    `json:"rules" maxItems:"50" doc:"Applied from top to bottom."`
	Status        string `json:"status" enum:"enabled" doc:"Always enabled."`
	CreatorID     int64  `json:"creator_id" doc:"The person who created it."`
	UpdatedBy     int64  `json:"updated_by" doc:"The person who changed it last."`
	CreatedAt     int64  `json:"created_at" doc:"Unix seconds."`
	UpdatedAt     int64  `json:"updated_at" doc:"Unix seconds."`
}

// maxRules is the number of rules that an integration may have.
const maxRules = 50

// KindOfRules returns how rules are stored: those of an integration together, by its id. noun is what people call them.
// checkAll returns why the rules are too large together; empty: they are not.
func KindOfRules[R Rule](kind, section, noun string, checkAll func([]R) string) configstore.Kind[Rules[R]] {
	return configstore.Kind[Rules[R]]{
		Name: kind, Section: section,
		Head: func(p *Rules[R]) configstore.Head {
			return configstore.Head{
				ID:        strconv.FormatInt(p.IntegrationID, 10),
				Name:      fmt.Sprintf("%s of integration %d", noun, p.IntegrationID),
				Creator:   p.CreatorID,
				CreatedAt: p.CreatedAt,
				UpdatedAt: p.UpdatedAt,
			}
		},
		Check: func(_ *db.Tx, at configstore.RecordPath, _ int64, p *Rules[R]) error {
			if p.Status == "" {
				p.Status = "enabled"
			}
			return configstore.FirstError(
				at.AtLeast("integration_id", p.IntegrationID, 1),
				at.OneOf("status", p.Status, "enabled"),
				p.check(at, checkAll),
			)
		},
	}
}

func (p *Rules[R]) check(at configstore.RecordPath, checkAll func([]R) string) error {
	if n := len(p.Rules); n > maxRules {
		return at.Invalid("rules", "must be at most %d, got %d", maxRules, n)
	}
	for i, r := range p.Rules {
		if path, why := r.Check(); path != "" {
			return at.Element("rules", i).Invalid(path, "%s", why)
		}
	}
	if why := checkAll(p.Rules); why != "" {
		return at.Invalid("rules", "%s", why)
	}
	return nil
}

// RulesInput is what an upsert of rules sends.
type RulesInput[R Rule] struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The integration."`
	Rules         []R   `json:"rules" maxItems:"50" doc:"Its rules, all of them, applied from top to bottom."`
}

// UpsertRules replaces the rules of an integration.
func UpsertRules[R Rule](c *api.Call, kind configstore.Kind[Rules[R]], in RulesInput[R]) (api.Empty, error) {
	account, key := c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10)
	if err := Permit(c, in.IntegrationID); err != nil {
		return api.Empty{}, err
	}
	p, found, err := kind.Find(c.Tx, account, key)
	if err != nil {
		return api.Empty{}, err
	}
	if !found {
		p = Rules[R]{IntegrationID: in.IntegrationID, CreatorID: c.Who.PersonID, CreatedAt: c.Unix()}
	}
	p.Rules = in.Rules
	p.UpdatedAt = c.Unix()
	p.UpdatedBy = c.Who.PersonID
	if err := kind.Check(c.Tx, "", account, &p); err != nil {
		return api.Empty{}, err
	}
	for i, r := range in.Rules {
		for _, warning := range r.Warnings() {
			c.Warn(fmt.Sprintf("rules[%d].%s", i, warning))
		}
	}
	c.Touched(configstore.Integration, in.IntegrationID, "")
	c.Touched(kind.Name, key, kind.Head(&p).Name)
	return api.Empty{}, kind.Put(c.Tx, account, &p)
}

// RulesRequest names an integration.
type RulesRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The integration."`
}

// RulesInfo returns the rules of an integration.
func RulesInfo[R Rule](c *api.Call, kind configstore.Kind[Rules[R]], in RulesRequest) (Rules[R], error) {
	if err := Permit(c, in.IntegrationID); err != nil {
		return Rules[R]{}, err
	}
	p, found, err := kind.Find(c.Tx, c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10))
	if err == nil && !found {
		err = fault.New(fault.NotFound, "%s does not exist", kind.Head(&Rules[R]{IntegrationID: in.IntegrationID}).Name)
	}
	return p, err
}

// RulesListRequest names integrations.
type RulesListRequest struct {
	IntegrationIDs []int64 `json:"integration_ids" maxItems:"1000" doc:"The integrations, at most 1000."`
}

// RulesList returns the rules of several integrations.
func RulesList[R Rule](c *api.Call, kind configstore.Kind[Rules[R]], in RulesListRequest) (api.Items[Rules[R]], error) {
	ids, err := Visible(c, in.IntegrationIDs)
	if err != nil {
		return api.Items[Rules[R]]{}, err
	}
	items, err := kind.Each(c.Tx, c.Who.AccountID, ids)
	return api.Items[Rules[R]]{Items: items}, err
}
