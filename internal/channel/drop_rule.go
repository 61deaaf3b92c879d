package channel

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/check"
	"tocsin/internal/db"
)

// DropRule throws matching events away before they become alerts; the first that matches does. Its
// address says "unsubscribe", the older name.
type DropRule struct{ Rule }

func scanDropRule(scan db.Scan) (r DropRule, err error) {
	var filters string
	if err := scan(r.columns(&filters)...); err != nil {
		return r, err
	}
	return r, r.readFilters(filters)
}

// LoadDropRules checks the records of an account file's drop_rules and inserts them; the channels must be
// there. A record without a status is enabled. Errors are fault.Invalid with the record's path.
func LoadDropRules(tx *db.Tx, account int64, records []DropRule) error {
	for i, r := range records {
		at := check.Record("drop_rules", i)
		r.normal()
		if err := r.check(tx, at, account); err != nil {
			return err
		}
		filters, err := json.Marshal(r.Filters)
		if err != nil {
			return err
		}
		n, err := tx.Exec(`INSERT INTO drop_rule (`+ruleColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING`, r.values(account, filters)...)
		if err != nil {
			return err
		}
		if n == 0 {
			return at.Twice("rule_id", r.RuleID)
		}
	}
	return nil
}

// DumpDropRules reads all drop rules of an account, deleted ones too, by id.
func DumpDropRules(tx *db.Tx, account int64) ([]DropRule, error) {
	return db.All(tx, scanDropRule, `SELECT `+ruleColumns+` FROM drop_rule WHERE account_id = $1 ORDER BY rule_id`, account)
}
