package alertrule

import (
	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
)

// Trial is what a datasource answered to the queries of a rule before it was stored.
type Trial struct {
	DSID    uint64 `json:"ds_id" doc:"The datasource."`
	DSName  string `json:"ds_name" doc:"Its name."`
	Status  string `json:"status" enum:"ok,failed,unchecked" doc:"ok: it answered; failed: it refused the queries or did not answer; unchecked: nothing could ask it."`
	Series  int64  `json:"series" doc:"How many series the answer had."`
	Message string `json:"message" doc:"Why it failed or is unchecked; empty: it is ok."`
}

// Saving is a rule that is to be stored.
type Saving struct {
	Rule
	Strict bool `json:"strict,omitzero" doc:"Refuse the rule if a datasource fails."`
}

// Saved is a rule that was stored.
type Saved struct {
	Rule
	Checks []Trial `json:"checks" doc:"What the first datasource that it matches answered to its queries; empty for a rule that is off."`
}

// tried is a rule with what was tried of it.
type tried struct {
	Rule
	checks []Trial
}

// try asks the queries of a rule before the transaction in which it is stored.
func (s *Service) try(c *api.Call, in Saving) (tried, error) {
	t := tried{in.Rule, []Trial{}}
	if s.Try == nil || !in.On() {
		return t, nil
	}
	t.checks = s.Try(c.Ctx, c.Who.AccountID, in.Rule)
	for _, check := range t.checks {
		if in.Strict && check.Status == "failed" {
			return t, fault.Invalid("rule_configs.queries", "datasource %d (%s) failed: %s", check.DSID, check.DSName, check.Message)
		}
	}
	return t, nil
}

// saved returns the reply for the rule as it was stored.
func (t tried) saved(c *api.Call, r Rule) (Saved, error) {
	r, err := r.named(c.Tx)
	return Saved{r, t.checks}, err
}
