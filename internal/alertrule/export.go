package alertrule

import (
	"tocsin/internal/api"
)

type exportRequest struct {
	IDs []uint64 `json:"ids" minItems:"1" maxItems:"1000" doc:"The rules."`
}

// Portable is a rule without what belongs to its account.
type Portable struct {
	Name    string `json:"name" doc:"Its name."`
	DSType  string `json:"ds_type" doc:"The type of its datasources."`
	Enabled bool   `json:"enabled" doc:"Whether it is evaluated."`
	Head
	Sources
	Body
}

// exportRules answers /monit/rule/export.
func exportRules(c *api.Call, in exportRequest) ([]Portable, error) {
	list := make([]Portable, 0, len(in.IDs))
	for _, id := range in.IDs {
		r, err := get(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return nil, err
		}
		list = append(list, Portable{r.Name, r.DSType, r.On(), r.Head, r.Sources, r.Body})
	}
	return list, nil
}
