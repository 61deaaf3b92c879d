package person

import (
	"math"

	"tocsin/internal/api"
)

// InfosRequest asks for several persons.
type InfosRequest struct {
	PersonIDs []uint64 `json:"person_ids" maxItems:"1000" doc:"Ids of persons, or the id of the account; at most 1,000."`
}

func infos(c *api.Call, in InfosRequest) (api.Items[Item], error) {
	ids := distinct(in.PersonIDs)
	persons, err := byID(c.Tx, c.Who.AccountID, ids)
	if err != nil {
		return api.Items[Item]{}, err
	}
	items := make([]Item, 0, len(ids))
	for _, id := range ids {
		if p := persons[id]; p != nil {
			items = append(items, *p)
			continue
		}
		if id != c.Who.AccountID {
			continue
		}
		p, found, err := ofAccount(c.Tx, id)
		if err != nil {
			return api.Items[Item]{}, err
		}
		if found {
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
