// Package migrations holds the steps of the schema: files of SQL that both engines run, and in postgres those that
// PostgreSQL runs in place of the one with the same name. It must not apply them: the engines do.
package migrations

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"github.com/pressly/goose/v3"
)

// Files are the migrations of the embedded engine.
//
//go:embed *.sql
var Files embed.FS

// Postgres are the migrations that PostgreSQL runs in place of those of Files, in folder postgres.
//
//go:embed postgres/*.sql
var Postgres embed.FS

// InAnyOrder permits a database to lack a migration of a lower number than its last: parts that were written side by side joined
// the program in another order. Missing migrations are applied first, in the order of their numbers.
// TestDatabaseOfEachVersionGetsPresentSchema holds every such order.
var InAnyOrder = goose.WithAllowOutofOrder(true)

// Numbers returns the numbers of the migrations of this program, ascending.
var Numbers = sync.OnceValue(func() (all []int64) {
	files, _ := Files.ReadDir(".") // embedded: it is there
	for _, f := range files {
		if n, err := goose.NumericComponent(f.Name()); err == nil {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
})

// Newest returns the number of the newest migration of this program.
func Newest() int64 { return slices.Max(Numbers()) }

// Digest returns a text that differs between programs with different migrations of the embedded engine.
func Digest() string {
	all := sha256.New()
	files, _ := Files.ReadDir(".") // embedded: it is there
	for _, f := range files {
		text, _ := Files.ReadFile(f.Name())
		fmt.Fprintln(all, f.Name(), len(text), string(text))
	}
	return hex.EncodeToString(all.Sum(nil)[:16])
}
