package alertrule

import (
	"slices"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/rulefolder"
)

const section = "alert_rules"

// Load adds the rules of an account file. Errors are fault.Invalid with the record's path. As with other references, channels
// may be missing.
func Load(tx *db.Tx, account int64, records []Rule) error {
	tree, err := rulefolder.TreeOf(tx, account)
	if err != nil {
		return err
	}
	for i := range records {
		r, at := &records[i], configstore.PathOf(section, i)
		if r.ID == 0 {
			return at.Invalid("id", "must be at least 1, got 0")
		}
		r.normalise()
		if r.FolderID == 0 {
			r.FolderID = rulefolder.First
		}
		if err := configstore.FirstError(at.Account(r.AccountID, account), r.check(at), tree.Need(at, "folder_id", r.FolderID)); err != nil {
			return err
		}
		r.AccountID = account
		if err := r.load(tx, at); err != nil {
			return err
		}
	}
	return checkLoaded(tx, account)
}

// load stores a record that was checked, and raises the counter to its id.
func (r *Rule) load(tx *db.Tx, at configstore.RecordPath) error {
	_, known, err := FindRule(tx, r.AccountID, r.ID)
	if err != nil {
		return err
	}
	if known {
		return at.Twice("id", r.ID)
	}
	used, err := taken(tx, r.AccountID, r.FolderID, r.Name, r.ID)
	if err != nil {
		return err
	}
	if used {
		return at.Invalid("name", "another rule of folder %d has the name %q", r.FolderID, r.Name)
	}
	if err := tx.Do(`DELETE FROM alert_rule_deleted WHERE account_id = $1 AND rule_id = $2`, r.AccountID, int64(r.ID)); err != nil {
		return err
	}
	if err := r.put(tx); err != nil || r.ID > maxCounted {
		return err
	}
	return tx.Do(`INSERT INTO alert_rule_counter (account_id, last_rule, last_change) VALUES ($1, $2, 0)
		ON CONFLICT (account_id) DO UPDATE SET last_rule = excluded.last_rule WHERE alert_rule_counter.last_rule < excluded.last_rule`,
		r.AccountID, int64(r.ID))
}

// maxCounted is the largest id to which a file raises the counter: beyond it, clients that read numbers as floating point
// would lose digits of every id that follows. It is 2^53 - 1.
const maxCounted = 1<<53 - 1

// checkLoaded returns a fault if the account or a folder has more rules than it may.
func checkLoaded(tx *db.Tx, account int64) error {
	in, err := CountByFolder(tx, account)
	all := int64(0)
	for folder, rules := range in {
		all += rules
		if rules > maxInFolder {
			return configstore.RecordPath(section).Invalid("", "a folder has at most %d rules, folder %d has %d", maxInFolder, folder, rules)
		}
	}
	if all > maxRules {
		return configstore.RecordPath(section).Invalid("", "an account has at most %d rules, got %d", maxRules, all)
	}
	return err
}

// Dump returns the account's rules by id.
func Dump(tx *db.Tx, account int64) ([]Rule, error) {
	rules, err := db.All(tx, scanRule(account, true), `SELECT `+columns+` FROM alert_rule WHERE account_id = $1`, account)
	slices.SortFunc(rules, byID)
	return rules, err
}
