package accountfile

import (
	"tocsin/internal/alert"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/datasource"
	"tocsin/internal/db"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/role"
	"tocsin/internal/rum"
	"tocsin/internal/schedule"
	"tocsin/internal/seal"
	"tocsin/internal/team"
	"tocsin/internal/webhook"
)

// sections are the lists of a file with the rooms that they come from and go to, in the order in which
// they are loaded.
var sections = []section{
	plain(func(f *File) *[]role.Record { return &f.Roles }, role.Load, role.Dump),
	plain(func(f *File) *[]team.Record { return &f.Teams }, team.Load, team.Dump),
	plain(func(f *File) *[]person.Record { return &f.Persons }, person.Load, person.Dump),
	keys,
	sealed(func(f *File) *[]schedule.Record { return &f.Schedules }, schedule.Load, schedule.Dump),
	plain(func(f *File) *[]channel.Channel { return &f.Channels }, channel.Load, channel.Dump),
	plain(func(f *File) *[]channel.SilenceRule { return &f.SilenceRules }, channel.LoadSilenceRules, channel.DumpSilenceRules),
	plain(func(f *File) *[]channel.DropRule { return &f.DropRules }, channel.LoadDropRules, channel.DumpDropRules),
	plain(func(f *File) *[]alert.Alert { return &f.Alerts }, alert.Load, alert.Dump),
	plain(func(f *File) *[]incident.Incident { return &f.Incidents }, incident.Load, incident.Dump),
	sealed(func(f *File) *[]datasource.Record { return &f.Datasources }, datasource.Load, datasource.Dump),
	sealed(func(f *File) *[]rum.Application { return &f.Applications }, rum.LoadApplications, rum.DumpApplications),
	plain(func(f *File) *[]rum.Issue { return &f.Issues }, rum.LoadIssues, rum.DumpIssues),
	plain(func(f *File) *[]webhook.Delivery { return &f.Deliveries }, webhook.Load, webhook.Dump),
}

// section moves one list of a file into the database and out of it.
type section struct{ load, dump func(work, *File) error }

// work is what a section has to work with.
type work struct {
	tx      *db.Tx
	box     *seal.Box
	account int64
	now     int64 // Unix seconds
	secrets bool  // whether secrets are dumped
}

// plain is a section without secrets.
func plain[T any](list func(*File) *[]T, load func(*db.Tx, int64, []T) error, dump func(*db.Tx, int64) ([]T, error)) section {
	return section{
		load: func(w work, f *File) error { return load(w.tx, w.account, *list(f)) },
		dump: func(w work, f *File) (err error) {
			*list(f), err = dump(w.tx, w.account)
			return err
		},
	}
}

// sealed is a section with secrets in it.
func sealed[T any](list func(*File) *[]T, load func(*db.Tx, *seal.Box, int64, []T) error, dump func(*db.Tx, *seal.Box, int64, bool) ([]T, error)) section {
	return section{
		load: func(w work, f *File) error { return load(w.tx, w.box, w.account, *list(f)) },
		dump: func(w work, f *File) (err error) {
			*list(f), err = dump(w.tx, w.box, w.account, w.secrets)
			return err
		},
	}
}

// keys is the section of app keys, which are secrets altogether: without secrets an export has none.
var keys = section{
	load: func(w work, f *File) error { return auth.LoadKeys(w.tx, w.account, f.AppKeys, w.now) },
	dump: func(w work, f *File) (err error) {
		if w.secrets {
			f.AppKeys, err = auth.DumpKeys(w.tx, w.account)
		}
		return err
	},
}
