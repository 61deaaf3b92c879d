package alertrule

import (
	"tocsin/internal/api"
)

// Imported is the array of rules that /monit/rule/import takes.
type Imported []Rule

// MaxItems bounds the rules of a call, which are created in one transaction.
func (Imported) MaxItems() int { return 1000 }

// importRules answers /monit/rule/import.
func (s *Service) importRules(c *api.Call, in Imported) ([]Done, error) {
	list := []Done{}
	if len(in) == 0 {
		return list, nil
	}
	within, err := scopeOf(c)
	if err != nil {
		return nil, err
	}
	if err := s.first(c); err != nil {
		return nil, err
	}
	for i := range in {
		r := &in[i]
		done, err := attempt(c, r.Name, func() error {
			if err := r.check(""); err != nil {
				return err
			}
			return s.add(c, &within, r, carried)
		})
		if err != nil {
			return nil, err
		}
		list = append(list, done)
	}
	return list, countToday(c.Tx, c.Who.AccountID, c.Unix())
}
