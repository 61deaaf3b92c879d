package world

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/demo"
)

// filled is what a program with the demo's account has stored: filling one takes longer than most tests.
var filled struct {
	once     sync.Once
	database []byte
	key      []byte // that seals its secrets
	keys     demo.Keys
}

// databaseName is that of the database in a world's folder.
const databaseName = "tocsin.db"

// copyFilled puts a database with the demo's account into a folder, and returns the keys of the account.
func copyFilled(t Reporter, dir string) demo.Keys {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("the demo's account: %v", err)
		}
	}
	path := filepath.Join(dir, databaseName)
	filled.once.Do(func() {
		w := demoIn(t, begin(t, dir, false, nil), nil)
		must(w.Close())
		var err error
		filled.database, err = os.ReadFile(path)
		must(err)
		filled.key, err = os.ReadFile(sealFile(path))
		must(err)
		filled.keys = w.Keys
	})
	must(os.WriteFile(path, filled.database, 0o600))
	must(os.WriteFile(sealFile(path), filled.key, 0o600))
	return filled.keys
}

func sealFile(path string) string { return app.Config{DB: "sqlite:" + path}.SealKeys().Path() }

// demoIn stores the demo's account, which change may alter, and creates its keys.
func demoIn(t Reporter, w *World, change func(*accountfile.File)) *World {
	t.Helper()
	f := demo.Account(Start)
	f.Deliveries = f.Deliveries[max(0, len(f.Deliveries)-deliveries):]
	if change != nil {
		change(f)
	}
	err := accountfile.Import(context.Background(), w.App.DB, w.App.Keyring, f, Start, false)
	if err == nil {
		w.Keys, err = demo.Fill(context.Background(), w.App.DB, w.App.Keyring, Start) // keys alone: the account is there
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	return w
}
