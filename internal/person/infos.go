package person

import (
	"math"

	"tocsin/internal/api"
)

type infosRequest struct {
	PersonIDs []uint64 `json:"person_ids" maxItems:"1000" doc:"Ids of persons, or the id of the account; at most 1,000."`
}

func infos(c *api.Call, in infosRequest) (api.Items[Item], error) {
	ids := distinct(in.PersonIDs)
	persons, err := byID(c.Tx, c.Who.AccountID, ids)
	if err != nil {
		return api.Items[Item]{}, err
	}
	items := make([]Item, 0, len(ids))
	for _, id := range ids {
		p, ok := persons[id]
		if !ok && id == c.Who.AccountID {
			if p, ok, err = ofAccount(c.Tx, id); err != nil {
				return api.Items[Item]{}, err
			}
		}
		if ok {
			items = append(items, p)
		}
	}
	return api.Items[Item]{Items: items}, nil
}

// distinct returns each id once, without ids that no person can have: ids are stored in 63 bits.
func distinct(ids []uint64) []int64 {
	seen := make(map[uint64]bool, len(ids))
	kept := make([]int64, 0, len(ids))
	for _, id := range ids {
		if id <= math.MaxInt64 && !seen[id] {
			seen[id] = true
			kept = append(kept, int64(id))
		}
	}
	return kept
}
