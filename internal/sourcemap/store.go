package sourcemap

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"net/url"
	"strings"

	"tocsin/internal/core/symbols"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Bounds of what an account may store, in bytes as they are stored. A small map counts leastStored, so that the number of maps
// is bounded as well. A service that needs more loses its oldest maps; an account that needs more is refused, because evicting
// one service's maps for another's would surprise its owner.
const (
	maxService  = 512 << 20
	maxAccount  = 2 << 30
	leastStored = 32 << 10
)

// Sourcemap is a stored source map without its text.
type Sourcemap struct {
	Key              string   `json:"key" doc:"Names the map: type, service, version and file."`
	Type             string   `json:"type" enum:"browser,android,ios" doc:"The kind of application; browser."`
	Service          string   `json:"service" doc:"The service, as the SDK names it."`
	Version          string   `json:"version" doc:"The application's version."`
	Size             int64    `json:"size" doc:"The map's size in bytes."`
	GitRepositoryURL string   `json:"git_repository_url" doc:"The repository that was built; may be empty."`
	GitCommitSHA     string   `json:"git_commit_sha" doc:"The commit that was built; may be empty."`
	CreatedAt        int64    `json:"created_at" doc:"When it was uploaded first, Unix seconds."`
	UpdatedAt        int64    `json:"updated_at" doc:"When it was uploaded last, Unix seconds."`
	Metadata         Metadata `json:"metadata" doc:"What the build stated besides."`
	id               string
}

// Metadata is what a build states about a map of type browser.
type Metadata struct {
	MinifiedURL string `json:"minified_url" doc:"The address of the file that the map is of, or its path."`
	CLIVersion  string `json:"cli_version,omitzero" doc:"The version of the program that uploaded it."`
	ProjectPath string `json:"project_path,omitzero" doc:"The path of the project in its repository."`
}

const columns = `kind, service, version, size, git_repository_url, git_commit_sha, created_at, updated_at, minified_url,
	cli_version, project_path`

func scan(scan db.Scan) (m Sourcemap, err error) {
	err = scan(&m.id, &m.Type, &m.Service, &m.Version, &m.Size, &m.GitRepositoryURL, &m.GitCommitSHA, &m.CreatedAt, &m.UpdatedAt,
		&m.Metadata.MinifiedURL, &m.Metadata.CLIVersion, &m.Metadata.ProjectPath)
	m.Key = strings.Join([]string{m.Type, m.Service, m.Version, strings.TrimPrefix(m.Metadata.MinifiedURL, "/") + ".map"}, "/")
	return m, err
}

// pathOf returns the path of an address or path, with a slash in front, without query and fragment. Servers and builds
// name the same file by different hosts.
func pathOf(address string) string {
	address, _, _ = strings.Cut(address, "?")
	address, _, _ = strings.Cut(address, "#")
	if scheme, rest, ok := strings.Cut(address, "://"); ok && scheme != "" {
		_, address, _ = strings.Cut(rest, "/")
	}
	if plain, err := url.PathUnescape(address); err == nil {
		address = plain
	}
	return "/" + strings.TrimLeft(address, "/")
}

// put stores a map, in place of an older one of the same file.
func put(tx *db.Tx, account int64, id string, m Sourcemap, text string, now int64) error {
	stored := int64(max(len(text), leastStored))
	if err := makeRoom(tx, account, m, stored); err != nil {
		return err
	}
	return tx.Do(`INSERT INTO source_map (account_id, map_id, `+columns+`, url_folded, path, stored, ends_at, text)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
		ON CONFLICT (account_id, kind, service, version, minified_url) DO UPDATE SET size = excluded.size,
		git_repository_url = excluded.git_repository_url, git_commit_sha = excluded.git_commit_sha, updated_at = excluded.updated_at,
		cli_version = excluded.cli_version, project_path = excluded.project_path, stored = excluded.stored, ends_at = excluded.ends_at,
		text = excluded.text, map_id = excluded.map_id`,
		account, id, m.Type, m.Service, m.Version, m.Size, m.GitRepositoryURL, m.GitCommitSHA, now, now, m.Metadata.MinifiedURL,
		m.Metadata.CLIVersion, m.Metadata.ProjectPath, db.Fold(m.Metadata.MinifiedURL), pathOf(m.Metadata.MinifiedURL), stored,
		now+keptDays*24*60*60, text)
}

// makeRoom deletes the oldest maps of a service that would store too much.
func makeRoom(tx *db.Tx, account int64, m Sourcemap, stored int64) error {
	all, _, err := db.One(tx, db.Column[int64], `SELECT coalesce(sum(stored), 0) FROM source_map WHERE account_id = $1`, account)
	if err != nil {
		return err
	}
	if all+stored > maxAccount {
		return fault.New(fault.Conflict, "the account stores %d MiB of source maps and may store %d; maps end %d days after their upload",
			all>>20, maxAccount>>20, keptDays)
	}
	held, _, err := db.One(tx, db.Column[int64], `SELECT coalesce(sum(stored), 0) FROM source_map WHERE account_id = $1 AND service = $2`,
		account, m.Service)
	if err != nil {
		return err
	}
	type row struct {
		id     string
		stored int64
	}
	for held+stored > maxService {
		oldest, found, err := db.One(tx, func(scan db.Scan) (r row, err error) { return r, scan(&r.id, &r.stored) },
			`SELECT map_id, stored FROM source_map WHERE account_id = $1 AND service = $2 ORDER BY updated_at, map_id LIMIT 1`, account, m.Service)
		if err != nil || !found {
			return err
		}
		held -= oldest.stored
		if err := tx.Do(`DELETE FROM source_map WHERE account_id = $1 AND map_id = $2`, account, oldest.id); err != nil {
			return err
		}
	}
	return nil
}

// found is a stored map that a file of a stack may have.
type found struct {
	id   string
	size int64
}

// find returns the map of a file: that with just this address if there is one, else that with its path; the newest
// first. An empty version stands for any.
func find(tx *db.Tx, account int64, service, version, file string) (f found, known bool, err error) {
	address, _, _ := strings.Cut(file, "?")
	return db.One(tx, func(scan db.Scan) (f found, err error) { return f, scan(&f.id, &f.size) },
		`SELECT map_id, size FROM source_map
		WHERE account_id = $1 AND service = $2 AND path = $3 AND kind = 'browser' AND ($4 = '' OR version = $4)
		ORDER BY CASE WHEN minified_url = $5 THEN 0 ELSE 1 END, updated_at DESC, map_id LIMIT 1`,
		account, service, pathOf(file), version, address)
}

// packed returns the text of a map as it is stored.
func packed(text []byte) (string, error) {
	var b bytes.Buffer
	to := base64.NewEncoder(base64.StdEncoding, &b)
	zip := gzip.NewWriter(to)
	if _, err := zip.Write(text); err != nil {
		return "", err
	}
	if err := zip.Close(); err != nil {
		return "", err
	}
	err := to.Close()
	return b.String(), err
}

// unpacked reverses packed.
func unpacked(text string) ([]byte, error) {
	zip, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(zip, symbols.MaxSize+1))
}
