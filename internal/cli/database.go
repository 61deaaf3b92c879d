package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
)

// database are the flags of every command that opens the database.
type database struct {
	DB          string `name:"db" help:"Database, sqlite:PATH or postgres://USER@HOST/NAME (default: sqlite:tocsin.db)." default:"sqlite:tocsin.db" placeholder:"DSN"`
	SealKeyFile string `help:"File with the keys that seal stored secrets; created on first use (default: the database's path with .key). PostgreSQL needs one, the same for every server." placeholder:"FILE"`
	SealKey     string `help:"The same keys as text, for secret stores that set environment variables." placeholder:"TEXT" hidden:""`
}

// newSealKey is the flag of the commands that seal.
type newSealKey struct {
	NewSealKey bool `help:"Go on although stored secrets are sealed under keys that are gone: these secrets are given up. Only once, when the key file is lost for good."`
}

func (d database) config() app.Config {
	return app.Config{
		DB:          d.DB,
		SealKeyFile: d.SealKeyFile,
		SealKey:     d.SealKey,
		Version:     Version(),
		Clock:       clock.Correct(clock.System),
		Log:         slog.New(slog.DiscardHandler),
	}
}

// logger writes one line per event to w.
func logger(w io.Writer, format, level string) *slog.Logger {
	var least slog.Level
	if least.UnmarshalText([]byte(level)) != nil { // the flag's enum allows no other value
		least = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: least}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// onExisting runs fn on a database that must exist: a mistyped path must not create a new, empty database.
func onExisting(dsn string, fn func(context.Context, *db.DB) error) (err error) {
	if err := db.MustExist(dsn); err != nil {
		return err
	}
	ctx := context.Background()
	d, err := db.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return fn(ctx, d)
}
