// Package sourcemap stores the source maps that builds upload, and shows stacks in the original code with them.
//
// It must never show the code of an account to another, nor let one account's maps fill the database or hold up the
// calls of others.
package sourcemap

import (
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
)

// Module returns the package's operations, retention and audit entries.
func (s *Service) Module() module.Module {
	return module.Module{
		Name:    "sourcemap",
		Ops:     s.Ops(),
		Prune:   []module.Retention{{Period: module.Ended, Prune: prune}},
		Records: []string{opUpload},
	}
}

// keptDays is how long a map is kept after its last upload: as far back as /sourcemap/list can look.
const keptDays = 365

// prune deletes maps that have ended, a batch at a time: their texts are large.
func prune(tx *db.Tx, now time.Time) (more bool, err error) {
	const batch = 100
	n, err := tx.Exec(`DELETE FROM source_map WHERE map_id IN (SELECT map_id FROM source_map WHERE ends_at < $1 ORDER BY ends_at LIMIT $2 + 0)
		AND ends_at < $1`, now.Unix(), batch)
	return n == batch, err
}
