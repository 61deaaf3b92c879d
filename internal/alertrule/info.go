package alertrule

import (
	"tocsin/internal/api"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// InfoRequest names a rule.
type InfoRequest struct {
	ID uint64 `json:"id" minimum:"1" doc:"The rule."`
}

func info(c *api.Call, in InfoRequest) (Rule, error) {
	r, err := get(c.Tx, c.Who.AccountID, in.ID)
	if err != nil {
		return Rule{}, err
	}
	return r.named(c.Tx)
}

// named returns the rule with the names of the persons who created and changed it.
func (r Rule) named(tx *db.Tx) (Rule, error) {
	rules := []Rule{r}
	err := named(tx, rules)
	return rules[0], err
}

// named sets the names of the persons who created and changed rules.
func named(tx *db.Tx, rules []Rule) error {
	names := nameCache{}
	for i := range rules {
		if err := names.sign(tx, &rules[i].Stamps); err != nil {
			return err
		}
	}
	return nil
}

// nameCache holds the names of persons by id.
type nameCache map[int64]string

// of returns the name of a person; empty: there is none.
func (n nameCache) of(tx *db.Tx, account, id int64) (string, error) {
	if name, known := n[id]; known {
		return name, nil
	}
	p, _, err := person.Find(tx, account, id)
	n[id] = p.PersonName
	return p.PersonName, err
}

// sign sets the names of persons.
func (n nameCache) sign(tx *db.Tx, s *Stamps) error {
	var err error
	s.CreatorName, err = n.of(tx, s.AccountID, s.CreatorID)
	if err != nil {
		return err
	}
	s.UpdaterName, err = n.of(tx, s.AccountID, s.UpdaterID)
	return err
}
