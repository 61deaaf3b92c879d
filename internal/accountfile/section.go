package accountfile

import (
	"fmt"

	"tocsin/internal/absence"
	"tocsin/internal/alert"
	"tocsin/internal/alertrule"
	"tocsin/internal/auth"
	"tocsin/internal/calendar"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/datasource"
	"tocsin/internal/edge"
	"tocsin/internal/engine/untold"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/enrichment"
	"tocsin/internal/field"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
	"tocsin/internal/preference"
	"tocsin/internal/role"
	"tocsin/internal/route"
	"tocsin/internal/rulefolder"
	"tocsin/internal/rum"
	"tocsin/internal/schedule"
	"tocsin/internal/statuspage"
	"tocsin/internal/team"
	"tocsin/internal/template"
)

// sections are the lists of a file with the packages that load and dump them, in the order in which
// they are loaded: objects come before the objects that refer to them.
var sections = []section{
	config("roles", configstore.Role, func(f *File) *[]role.Record { return &f.Roles },
		unsealed(role.Load), unsecret(role.Dump), role.Erase, func(r *role.Record) (int64, string) { return r.RoleID, r.RoleName }),
	config("teams", configstore.Team, func(f *File) *[]team.Record { return &f.Teams },
		unsealed(team.Load), unsecret(team.Dump), team.Erase, func(r *team.Record) (int64, string) { return r.TeamID, r.TeamName }),
	config("persons", configstore.Person, func(f *File) *[]person.Record { return &f.Persons },
		unsealed(person.Load), unsecret(person.Dump), person.Erase, func(r *person.Record) (int64, string) { return r.PersonID, r.PersonName }),
	keys,
	objects(calendar.Kind, func(f *File) *[]calendar.Calendar { return &f.Calendars }),
	objects(calendar.EventKind, func(f *File) *[]calendar.Event { return &f.CalendarEvents }),
	config("schedules", configstore.Schedule, func(f *File) *[]schedule.Record { return &f.Schedules },
		schedule.Load, schedule.Dump, schedule.Erase, func(r *schedule.Record) (int64, string) { return r.ScheduleID, r.Name }),
	config("schedule_overrides", configstore.Override, func(f *File) *[]schedule.Override { return &f.ScheduleOverrides },
		unsealed(schedule.LoadOverrides), unsecret(schedule.DumpOverrides), schedule.EraseOverride,
		func(o *schedule.Override) (int64, string) { return o.OverrideID, o.Reason }),
	config("absences", configstore.Absence, func(f *File) *[]absence.Absence { return &f.Absences },
		unsealed(absence.Load), unsecret(absence.Dump), absence.Erase,
		func(a *absence.Absence) (int64, string) { return a.AbsenceID, a.Note }),
	objects(template.Kind, func(f *File) *[]template.Template { return &f.Templates }),
	config("channels", configstore.Channel, func(f *File) *[]channel.Channel { return &f.Channels },
		unsealed(channel.Load), unsecret(channel.Dump), channel.Erase,
		func(r *channel.Channel) (int64, string) { return r.ChannelID, r.ChannelName }),
	objects(channel.Silences, func(f *File) *[]channel.SilenceRule { return &f.SilenceRules }),
	objects(channel.Drops, func(f *File) *[]channel.DropRule { return &f.DropRules }),
	objects(channel.Inhibits, func(f *File) *[]channel.InhibitRule { return &f.InhibitRules }),
	objects(channel.Escalates, func(f *File) *[]channel.EscalateRule { return &f.EscalateRules }),
	objects(field.Kind, func(f *File) *[]field.Field { return &f.Fields }),
	config(integration.Kind.Section, integration.Kind.Name, func(f *File) *[]integration.Integration { return &f.Integrations },
		integration.Load, integration.Kind.Dump, integration.Erase,
		func(i *integration.Integration) (string, string) { h := integration.Kind.Head(i); return h.ID, h.Name }),
	objects(route.Kind, func(f *File) *[]route.Route { return &f.Routes }),
	objects(enrichment.Kind, func(f *File) *[]enrichment.Rules { return &f.Enrichments }),
	objects(preference.Kind, func(f *File) *[]preference.Preference { return &f.Preferences }),
	objects(untold.Kind, func(f *File) *[]untold.Fallback { return &f.Fallbacks }),
	objects(alert.Pipelines, func(f *File) *[]alert.Pipeline { return &f.Pipelines }),
	statusPages(),
	plain("status_page_changes", func(f *File) *[]statuspage.Change { return &f.StatusChanges }, statuspage.Load, statuspage.Dump),
	plain("alerts", func(f *File) *[]alert.Alert { return &f.Alerts }, alert.Load, alert.Dump),
	plain("incidents", func(f *File) *[]incident.Incident { return &f.Incidents }, incident.Load, incident.Dump),
	config("datasources", configstore.Datasource, func(f *File) *[]datasource.Record { return &f.Datasources },
		datasource.Load, datasource.Dump, datasource.Erase, func(r *datasource.Record) (uint64, string) { return r.ID, r.Name }),
	objects(edge.Kind, func(f *File) *[]edge.Cluster { return &f.EdgeClusters }),
	config("rule_folders", configstore.RuleFolder, func(f *File) *[]rulefolder.Folder { return &f.RuleFolders },
		unsealed(rulefolder.Load), unsecret(rulefolder.Dump), rulefolder.Erase,
		func(r *rulefolder.Folder) (int64, string) { return r.FolderID, r.FolderName }),
	alertRules(),
	config("rum_applications", configstore.Application, func(f *File) *[]rum.Application { return &f.Applications },
		rum.LoadApplications, rum.DumpApplications, rum.EraseApplication,
		func(r *rum.Application) (string, string) { return r.ApplicationID, r.ApplicationName }),
	plain("rum_issues", func(f *File) *[]rum.Issue { return &f.Issues }, rum.LoadIssues, rum.DumpIssues),
	plain("webhook_deliveries", func(f *File) *[]webhook.Delivery { return &f.Deliveries }, webhook.Load, webhook.Dump),
}

// section loads one list of a file into the database and dumps it from there. The lists of configuration can be
// applied as well: these have all functions, the others only load, dump and merge.
type section struct {
	name    string
	examine func(*File) error // checks what takes long, before the transaction; nil: nothing
	load    func(work, *File) error
	dump    func(work, *File) error
	merge   func(w work, f *File, have []record) (records int, err error) // replaces the stored records by the file's
	has     func(f *File, id string) bool
	erase   func(w work, id string) error
	objects func(full, masked *File) ([]record, error)
}

// work is what the functions of a section need.
type work struct {
	tx      *db.Tx
	keyring *secret.Keyring
	account int64
	now     int64 // Unix seconds
	secrets bool  // whether secrets are dumped
}

type (
	loader[T any] = func(*db.Tx, *secret.Keyring, int64, []T) error
	dumper[T any] = func(*db.Tx, *secret.Keyring, int64, bool) ([]T, error)
)

func unsealed[T any](load func(*db.Tx, int64, []T) error) loader[T] {
	return func(tx *db.Tx, _ *secret.Keyring, account int64, records []T) error {
		return load(tx, account, records)
	}
}

func unsecret[T any](dump func(*db.Tx, int64) ([]T, error)) dumper[T] {
	return func(tx *db.Tx, _ *secret.Keyring, account int64, _ bool) ([]T, error) { return dump(tx, account) }
}

// plain returns a section of history: what happened in an account.
func plain[T any](name string, list func(*File) *[]T, load func(*db.Tx, int64, []T) error, dump func(*db.Tx, int64) ([]T, error)) section {
	return section{
		name: name,
		load: func(w work, f *File) error { return load(w.tx, w.account, *list(f)) },
		dump: func(w work, f *File) (err error) {
			*list(f), err = dump(w.tx, w.account)
			return err
		},
		merge: func(_ work, f *File, _ []record) (int, error) { return len(*list(f)), nil },
	}
}

// objects returns a section of configuration objects.
func objects[T any](k configstore.Kind[T], list func(*File) *[]T) section {
	erase := func(tx *db.Tx, account int64, id string) error { return k.Delete(tx, account, id) }
	s := config(k.Section, k.Name, list, k.Load, k.Dump, erase, func(v *T) (string, string) { h := k.Head(v); return h.ID, h.Name })
	s.examine = func(f *File) error { return k.ExamineAll(*list(f)) }
	return s
}

// statusPages returns the section of status pages. A page that an apply replaces keeps its changes, which are history. Deleting
// a page deletes its changes.
func statusPages() section {
	s := objects(statuspage.Pages, func(f *File) *[]statuspage.Page { return &f.StatusPages })
	s.erase = func(w work, id string) error { return statuspage.ErasePage(w.tx, w.account, id) }
	return s
}

// alertRules returns the section of alert rules. One that an apply deletes leaves a mark for what evaluates it.
func alertRules() section {
	s := config("alert_rules", configstore.AlertRule, func(f *File) *[]alertrule.Rule { return &f.AlertRules },
		unsealed(alertrule.Load), unsecret(alertrule.Dump), alertrule.Erase, func(r *alertrule.Rule) (uint64, string) { return r.ID, r.Name })
	s.erase = func(w work, id string) error {
		rule, err := parseKey[uint64](id)
		if err != nil {
			return err
		}
		return alertrule.Remove(w.tx, w.account, rule, w.now)
	}
	return s
}

// config returns a section of configuration. erase deletes a record so that it can be loaded again, but nothing
// that is only attached to it.
func config[T any, K int64 | uint64 | string](
	name, kind string,
	list func(*File) *[]T,
	load loader[T],
	dump dumper[T],
	erase func(*db.Tx, int64, K) error,
	key func(*T) (K, string),
) section {
	id := func(v *T) string { k, _ := key(v); return fmt.Sprint(k) }
	return section{
		name: name,
		load: func(w work, f *File) error { return load(w.tx, w.keyring, w.account, *list(f)) },
		dump: func(w work, f *File) (err error) {
			*list(f), err = dump(w.tx, w.keyring, w.account, w.secrets)
			return err
		},
		merge: func(w work, f *File, have []record) (int, error) {
			records := *list(f)
			return len(records), mergeRecords(name, records, id, have, func(all []T) error {
				for i := range all {
					k, _ := key(&all[i])
					if err := erase(w.tx, w.account, k); err != nil {
						return err
					}
				}
				return load(w.tx, w.keyring, w.account, all)
			})
		},
		has: func(f *File, wanted string) bool {
			for i := range *list(f) {
				if id(&(*list(f))[i]) == wanted {
					return true
				}
			}
			return false
		},
		erase: func(w work, id string) error {
			k, err := parseKey[K](id)
			if err != nil {
				return err
			}
			return erase(w.tx, w.account, k)
		},
		objects: func(full, masked *File) ([]record, error) {
			all, without := *list(full), *list(masked)
			out := make([]record, len(all))
			for i := range all {
				k, label := key(&all[i])
				out[i].Ref = fault.Ref{Kind: kind, ID: fmt.Sprint(k), Name: label}
				var err error
				out[i].full, err = treeOf(all[i])
				if err != nil {
					return nil, err
				}
				out[i].masked, err = treeOf(without[i])
				if err != nil {
					return nil, err
				}
			}
			return out, nil
		},
	}
}

// parseKey decodes an id that fmt.Sprint formatted.
func parseKey[K int64 | uint64 | string](id string) (k K, err error) {
	if text, ok := any(&k).(*string); ok {
		*text = id
		return k, nil
	}
	_, err = fmt.Sscan(id, &k)
	return k, err
}

// keys is the section of app keys. They are secret as a whole: an export without secrets has none.
var keys = section{
	name: "app_keys",
	load: func(w work, f *File) error { return auth.LoadKeys(w.tx, w.account, f.AppKeys, w.now) },
	dump: func(w work, f *File) (err error) {
		if w.secrets {
			f.AppKeys, err = auth.DumpKeys(w.tx, w.account)
		}
		return err
	},
	merge: func(_ work, f *File, _ []record) (int, error) { return len(f.AppKeys), nil },
}
