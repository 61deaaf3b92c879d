package accountfile

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/audit"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/engine/monitor"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
	"tocsin/internal/schedule"
)

// Options change how a file is applied.
type Options struct {
	Prune  bool  // delete the objects that the file does not have
	DryRun bool  // compute the plan and change nothing
	Shown  *Plan // if set, the changes must be exactly these: else fault.Conflict, and nothing is changed

	Inspect func(*db.Tx) error // if set, is called when the file has been applied, before the end of the transaction
}

// Apply makes an account's configuration equal to a file and returns the changes, all or nothing.
// An account that does not exist is created with everything in the file. Otherwise history (alerts, incidents, issues,
// deliveries) and app keys are left alone.
//
// The plan is exact: the file is applied in a transaction, the account is compared with its state before, and
// the transaction is committed or, for a dry run, rolled back. Applying the same file again changes nothing.
func Apply(ctx context.Context, d *db.DB, keyring *secret.Keyring, f *File, now time.Time, o Options) (Plan, error) {
	if err := f.check(); err != nil {
		return Plan{}, err
	}
	var plan Plan
	var was, will schedule.Now
	err := d.WriteOf(ctx, f.Account.AccountID, func(tx *db.Tx) error {
		w := work{tx: tx, keyring: keyring, account: f.Account.AccountID, now: now.Unix()}
		before, exists, err := w.state()
		if err != nil {
			return err
		}
		was, err = schedule.ReadNow(tx, w.account)
		if err != nil {
			return err
		}
		if err := w.apply(f, before, exists, o, &plan); err != nil {
			return err
		}
		after, _, err := w.state()
		if err != nil {
			return err
		}
		plan.Changes = changes(before, after)
		will, err = schedule.ReadNow(tx, w.account)
		if err != nil {
			return err
		}
		if o.Inspect != nil {
			if err := o.Inspect(tx); err != nil {
				return err
			}
		}
		if o.DryRun {
			return errDryRun
		}
		if o.Shown != nil && !reflect.DeepEqual(plan.Changes, o.Shown.Changes) {
			return fault.New(fault.Conflict,
				"account %d changed after the plan was made, and nothing was applied: make the plan again", w.account)
		}
		return errors.Join(w.switchChannels(plan.Changes, f.Account.OwnerID, now), w.record(f, plan, now))
	})
	if errors.Is(err, errDryRun) {
		err = nil
	}
	if err != nil || plan.Empty() || o.Shown != nil {
		return plan, err
	}
	plan.Oncall, err = f.oncall(ctx, d, was, will, now) // when others may write again
	return plan, err
}

var errDryRun = errors.New("rolled back: a dry run")

// apply merges the file into an account that exists, or creates it.
func (w work) apply(f *File, before state, exists bool, o Options, plan *Plan) error {
	if exists {
		return w.merge(f, before, o.Prune, plan)
	}
	return w.load(f)
}

// switchChannels ends what alert rules have open in channels that the file disabled, as the operation does.
func (w work) switchChannels(list []Change, by int64, now time.Time) error {
	for _, c := range list {
		status := func(m MemberChange) bool { return m.Path == "status" }
		if c.Object.Kind != configstore.Channel || !slices.ContainsFunc(c.Members, status) {
			continue
		}
		id, err := parseKey[int64](c.Object.ID)
		if err != nil {
			return err
		}
		ch, _, err := channel.Find(w.tx, w.account, id)
		if err != nil {
			return err
		}
		if err := monitor.SwitchChannel(w.tx, w.account, &ch, by, now); err != nil {
			return err
		}
	}
	return nil
}

// load creates the account with everything in the file.
func (w work) load(f *File) error {
	if err := person.LoadAccount(w.tx, f.Account, w.now); err != nil {
		return err
	}
	for _, s := range sections {
		if err := s.load(w, f); err != nil {
			return err
		}
	}
	return nil
}

// merge loads the records of the file into an existing account. With prune it then deletes the records that
// the file does not have.
func (w work) merge(f *File, before state, prune bool, plan *Plan) error {
	if err := person.ReplaceAccount(w.tx, f.Account); err != nil {
		return err
	}
	for _, s := range sections {
		switch n, err := s.merge(w, f, before[s.name]); {
		case err != nil:
			return err
		case s.erase == nil && n > 0:
			plan.Ignored = append(plan.Ignored, s.name)
		}
	}
	var erased []fault.Ref
	for _, s := range slices.Backward(sections) {
		for _, r := range before[s.name] {
			if s.erase == nil || s.has(f, r.ID) {
				continue
			}
			if !prune {
				plan.Kept = append(plan.Kept, r.Ref)
				continue
			}
			if err := s.erase(w, r.ID); err != nil {
				return err
			}
			erased = append(erased, r.Ref)
		}
	}
	return w.checkErased(erased)
}

// checkErased rejects pruning an object that the remaining objects refer to.
func (w work) checkErased(erased []fault.Ref) error {
	for _, e := range erased {
		if err := configstore.RefuseReferenced(w.tx, w.account, e.Kind, e.ID); err != nil {
			return fmt.Errorf("cannot prune %s: %w", called(e), err)
		}
	}
	return nil
}

// record writes one entry into the audit log. The entry names the owner, for whom commands on the server act.
func (w work) record(f *File, plan Plan, now time.Time) error {
	if plan.Empty() {
		return nil
	}
	entry := api.AuditEntry{
		At: now, AccountID: w.account, PersonID: f.Account.OwnerID,
		Operation: "account:write:import", Dangerous: true, Write: true,
	}
	for _, p := range f.Persons {
		if p.PersonID == f.Account.OwnerID {
			entry.PersonName = p.PersonName
		}
	}
	count := map[string]int{}
	for _, c := range plan.Changes {
		count[c.Verb]++
		entry.Touched = append(entry.Touched, c.Object)
	}
	body, err := json.Marshal(count, json.Deterministic(true))
	entry.Body = string(body)
	return errors.Join(err, audit.Record(w.tx, entry))
}

// state is the configuration of an account, section by section.
type state map[string][]record

// record is one object as a tree, with its secrets (full) and without (masked).
type record struct {
	fault.Ref
	full, masked any
}

// state reads the configuration, once with secrets and once without.
func (w work) state() (s state, exists bool, err error) {
	s = state{}
	account, found, err := person.DumpAccount(w.tx, w.account)
	if err != nil || !found {
		return s, false, err
	}
	full, masked := &File{}, &File{}
	withSecrets, withoutSecrets := w, w
	withSecrets.secrets = true
	v, err := treeOf(account)
	if err != nil {
		return s, true, err
	}
	s["account"] = []record{{fault.Ref{Kind: "account", ID: fmt.Sprint(account.AccountID), Name: account.AccountName}, v, v}}
	for _, section := range sections {
		if section.erase == nil {
			continue
		}
		if err := errors.Join(section.dump(withSecrets, full), section.dump(withoutSecrets, masked)); err != nil {
			return s, true, err
		}
		s[section.name], err = section.objects(full, masked)
		if err != nil {
			return s, true, err
		}
	}
	return s, true, nil
}

// changes compares two states, in the order of the sections. Values that are secret in either state are not shown.
func changes(before, after state) (list []Change) {
	for _, name := range append([]string{"account"}, sectionNames()...) {
		was := map[string]record{}
		for _, o := range before[name] {
			was[o.ID] = o
		}
		for _, o := range after[name] {
			old, existed := was[o.ID]
			delete(was, o.ID)
			if !existed {
				list = append(list, Change{Verb: "create", Object: o.Ref})
				continue
			}
			hidden := secretPaths(old.full, old.masked)
			for path := range secretPaths(o.full, o.masked) {
				hidden[path] = true
			}
			if members := differences(old.full, o.full, func(path string) bool { return hidden[path] }); len(members) > 0 {
				list = append(list, Change{"change", o.Ref, members})
			}
		}
		for _, o := range before[name] {
			if _, gone := was[o.ID]; gone {
				list = append(list, Change{Verb: "delete", Object: o.Ref})
			}
		}
	}
	return list
}

func sectionNames() (names []string) {
	for _, s := range sections {
		names = append(names, s.name)
	}
	return names
}

func treeOf(record any) (any, error) {
	b, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	return tree(b)
}

// mergeRecords calls replace with all records of a section, completed, if any of them differs from the stored ones.
func mergeRecords[T any](name string, records []T, key func(*T) string, have []record, replace func([]T) error) error {
	there := map[string]record{}
	seen := map[string]bool{}
	differs := false
	for _, o := range have {
		there[o.ID] = o
	}
	full := make([]T, len(records))
	for i := range records {
		id := key(&records[i])
		if seen[id] {
			return configstore.PathOf(name, i).Twice("", id)
		}
		seen[id] = true
		want, err := treeOf(records[i])
		if err != nil {
			return err
		}
		o, exists := there[id]
		if exists {
			want = completed(want, o.full, o.masked)
		}
		differs = differs || !exists || text(want) != text(o.full)
		b, err := stdjson.Marshal(want)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, &full[i]); err != nil {
			return err
		}
	}
	if !differs {
		return nil
	}
	return replace(full)
}
