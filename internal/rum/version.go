package rum

import (
	"time"

	"tocsin/internal/platform/db"
)

// Version is a version of a service of an application.
type Version struct {
	Name      string
	FirstSeen int64 // Unix milliseconds
}

// maxVersions is how many versions of an application are kept: a sender could invent any number of them.
const maxVersions = 1000

// SeeVersion stores that errors of a version have arrived.
func SeeVersion(tx *db.Tx, account int64, application, service, version string, now time.Time) error {
	at := now.UnixMilli()
	n, err := tx.Exec(`UPDATE rum_version SET last_seen_at = $1
		WHERE account_id = $2 AND application_id = $3 AND service = $4 AND version = $5`,
		at, account, application, service, version)
	if err != nil || n > 0 {
		return err
	}
	return tx.Do(`INSERT INTO rum_version (account_id, application_id, service, version, first_seen_at, last_seen_at)
		SELECT $1, $2, $3, $4, $5, $5
		WHERE (SELECT count(*) FROM rum_version WHERE account_id = $1 AND application_id = $2) < $6`,
		account, application, service, version, at, maxVersions)
}

// Versions returns the versions of a service by name.
func Versions(tx *db.Tx, account int64, application, service string) (map[string]int64, error) {
	list, err := db.All(tx, func(scan db.Scan) (v Version, err error) { return v, scan(&v.Name, &v.FirstSeen) },
		`SELECT version, first_seen_at FROM rum_version WHERE account_id = $1 AND application_id = $2 AND service = $3`,
		account, application, service)
	all := map[string]int64{}
	for _, v := range list {
		all[v.Name] = v.FirstSeen
	}
	return all, err
}
