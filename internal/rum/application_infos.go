package rum

import (
	"tocsin/internal/api"
	"tocsin/internal/platform/db"
)

type applicationInfosRequest struct {
	ApplicationIDs []string `json:"application_ids" maxItems:"200" maxLength:"255" doc:"The applications to read, at most 200; may be empty."`
}

// applicationInfos answers /rum/application/infos, for any valid key. Private applications that the caller may not read are
// left out, like those that do not exist.
func (r *Service) applicationInfos(c *api.Call, in applicationInfosRequest) (api.Items[Application], error) {
	items, seen := []Application{}, map[string]bool{}
	for _, id := range in.ApplicationIDs {
		if seen[id] {
			continue
		}
		seen[id] = true
		a, found, err := db.One(c.Tx, scanApplication,
			`SELECT `+applicationColumns+` FROM rum_application a
			WHERE account_id = $1 AND application_id = $4 AND status <> 'deleted' AND `+mayRead, c.Who.AccountID, c.Who.Owner, c.Who.PersonID, id)
		if err != nil {
			return api.Items[Application]{}, err
		}
		if !found {
			continue
		}
		if err := a.openToken(r.keyring.Show(c.Report)); err != nil {
			return api.Items[Application]{}, err
		}
		items = append(items, a)
	}
	return api.Items[Application]{Items: items}, nil
}
