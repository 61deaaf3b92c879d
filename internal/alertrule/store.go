package alertrule

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json"

	"tocsin/internal/configstore"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/rulefolder"
)

const (
	short   = `rule_id, folder_id, rule_name, ds_type, enabled, revision, created_at, creator_id, updated_at, updater_id, head, sources`
	columns = short + `, body`
)

// scanRule reads the row of a rule; without its body if the statement leaves that out.
func scanRule(account int64, whole bool) func(db.Scan) (Rule, error) {
	return func(scan db.Scan) (r Rule, err error) {
		var (
			id                  int64
			on                  bool
			head, sources, body string
			rest                kept
		)
		into := []any{&id, &r.FolderID, &r.Name, &r.DSType, &on, &r.Revision, &r.CreatedAt, &r.CreatorID, &r.UpdatedAt, &r.UpdaterID,
			&head, &sources}
		if whole {
			into = append(into, &body)
		}
		if err := scan(into...); err != nil {
			return r, err
		}
		r.ID = uint64(id)
		r.AccountID = account
		r.Enabled = &on
		parts := []struct {
			text string
			into any
		}{{head, &r.Head}, {sources, &r.Sources}, {body, &rest}}
		for _, p := range parts {
			if p.text == "" {
				continue
			}
			if err := json.Unmarshal([]byte(p.text), p.into); err != nil {
				return r, fault.Wrap(err, "alert rule %d", r.ID)
			}
		}
		r.Body = rest.Body
		r.ChannelIDs = rest.ChannelIDs
		return r, nil
	}
}

// FindRule returns a rule without the names of persons; found is false if the account has none of this id.
func FindRule(tx *db.Tx, account int64, id uint64) (r Rule, found bool, err error) {
	return db.One(tx, scanRule(account, true), `SELECT `+columns+` FROM alert_rule WHERE account_id = $1 AND rule_id = $2`, account, int64(id))
}

// get is FindRule with ResourceNotFound if there is none.
func get(tx *db.Tx, account int64, id uint64) (Rule, error) {
	r, found, err := FindRule(tx, account, id)
	if err == nil && !found {
		err = fault.Missing(configstore.AlertRule, id)
	}
	return r, err
}

// basics returns the rules of a folder without their bodies, by id; folder 0: those of all folders.
func basics(tx *db.Tx, account, folder int64) ([]Rule, error) {
	rules, err := db.All(tx, scanRule(account, false),
		`SELECT `+short+` FROM alert_rule WHERE account_id = $1 AND ($2 = 0 OR folder_id = $2)`, account, folder)
	slices.SortFunc(rules, byID)
	return rules, err
}

// byID compares by id. The database stores ids signed and would sort those over 2^63 first.
func byID(a, b Rule) int { return cmp.Compare(a.ID, b.ID) }

// taken reports whether another rule has the name in a folder.
func taken(tx *db.Tx, account, folder int64, name string, except uint64) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64],
		`SELECT rule_id FROM alert_rule WHERE account_id = $1 AND folder_id = $2 AND rule_name = $3 AND rule_id <> $4`,
		account, folder, name, int64(except))
	return found, err
}

// put stores a rule under the account's next revision.
func (r *Rule) put(tx *db.Tx) error {
	if err := configstore.BumpRevision(tx, r.AccountID); err != nil {
		return err
	}
	revision, err := configstore.Revision(tx, r.AccountID)
	if err != nil {
		return err
	}
	r.Revision = revision
	schedule, err := evaluate.ParseSchedule(r.CronPattern)
	if err != nil {
		return err
	}
	values := []any{
		int64(r.ID), r.FolderID, r.Name, r.DSType, r.On(), r.Revision, r.CreatedAt, r.CreatorID, r.UpdatedAt, r.UpdaterID,
	}
	for _, part := range []any{r.Head, r.Sources, kept{r.Body, r.ChannelIDs}} {
		text, err := json.Marshal(part, json.Deterministic(true))
		if err != nil {
			return err
		}
		values = append(values, string(text))
	}
	err = tx.Do(`INSERT INTO alert_rule (`+columns+`, account_id, interval_ms)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
		ON CONFLICT (account_id, rule_id) DO UPDATE SET folder_id = excluded.folder_id, rule_name = excluded.rule_name,
			ds_type = excluded.ds_type, enabled = excluded.enabled, interval_ms = excluded.interval_ms, revision = excluded.revision,
			created_at = excluded.created_at, creator_id = excluded.creator_id, updated_at = excluded.updated_at,
			updater_id = excluded.updater_id, sources = excluded.sources, head = excluded.head, body = excluded.body`,
		append(values, r.AccountID, schedule.Interval().Milliseconds())...)
	if err != nil {
		return err
	}
	return configstore.SetReferences(tx, r.AccountID, r.ref(), r.targets()...)
}

func (r *Rule) ref() fault.Ref { return configstore.RefFrom(configstore.AlertRule, r.ID, r.Name) }

// targets returns the objects that the rule names, which cannot be deleted as long as it does.
func (r *Rule) targets() []configstore.Target {
	list := []configstore.Target{rulefolder.RefTo(r.FolderID)}
	for _, id := range r.ChannelIDs {
		list = append(list, configstore.RefTo(configstore.Channel, id))
	}
	for _, id := range r.DSIDs {
		list = append(list, configstore.RefTo(configstore.Datasource, id))
	}
	return list
}

// Remove deletes a rule so that the processes that evaluate it stop. It does nothing if there is none.
func Remove(tx *db.Tx, account int64, id uint64, now int64) error {
	if err := Erase(tx, account, id); err != nil {
		return err
	}
	revision, err := configstore.Revision(tx, account)
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO alert_rule_deleted (account_id, rule_id, revision, deleted_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, rule_id) DO UPDATE SET revision = excluded.revision, deleted_at = excluded.deleted_at`,
		account, int64(id), revision, now)
}

// Erase deletes a rule that is loaded again. It does nothing if there is none.
func Erase(tx *db.Tx, account int64, id uint64) error {
	if err := tx.Do(`DELETE FROM alert_rule WHERE account_id = $1 AND rule_id = $2`, account, int64(id)); err != nil {
		return err
	}
	if err := configstore.BumpRevision(tx, account); err != nil {
		return err
	}
	return configstore.ClearReferences(tx, account, configstore.AlertRule, id)
}

// nextID returns the next number of the account's counter. IDs are small because people read and type them.
func nextID(tx *db.Tx, account int64) (uint64, error) {
	last, _, err := db.One(tx, db.Column[int64], `INSERT INTO alert_rule_counter (account_id, last_rule, last_change) VALUES ($1, 1, 0)
		ON CONFLICT (account_id) DO UPDATE SET last_rule = alert_rule_counter.last_rule + 1 RETURNING last_rule`, account)
	return uint64(last), err
}

// nextChange returns the number of the account's next change.
func nextChange(tx *db.Tx, account int64) (int64, error) {
	last, _, err := db.One(tx, db.Column[int64], `INSERT INTO alert_rule_counter (account_id, last_rule, last_change) VALUES ($1, 0, 1)
		ON CONFLICT (account_id) DO UPDATE SET last_change = alert_rule_counter.last_change + 1 RETURNING last_change`, account)
	return last, err
}
