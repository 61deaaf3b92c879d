package rum_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
	"tocsin/internal/rum"
)

func newKeyring(t *testing.T) *secret.Keyring {
	keyring, err := secret.Open(filepath.Join(t.TempDir(), "keys"), func() time.Time { return apitest.Now })
	if err != nil {
		t.Fatal(err)
	}
	return keyring
}

func start(t *testing.T) (*apitest.Server, *secret.Keyring) {
	keyring := newKeyring(t)
	service := rum.New(nil, keyring, nil)
	s := apitest.Start(t, service.Ops())
	service.DB = s.DB
	return s, keyring
}

// within runs fn in a transaction that is committed if it returns nil, and returns its error.
func within(s *apitest.Server, fn func(tx *db.Tx) error) error {
	return s.DB.Write(context.Background(), fn)
}

const token = "ce8d1be90fc6534f89ce36ebf526765e131"

func web() rum.Application {
	tracing := rum.Tracing{Enabled: true, OpenType: "popup", Endpoint: "https://traces.example.com/${trace_id}"}
	return rum.Application{ApplicationID: "eWbr4xk3ZRnLabRa6unqwD", ApplicationName: "Web shop", Type: "browser", ClientToken: token,
		TeamID: 2477033058131, Alerting: rum.Alerting{Enabled: true, ChannelIDs: []int64{5962711836131, 5967875767131}, IntegrationID: 4759595678131},
		Tracing: tracing, CreatedBy: 2476444212131, UpdatedBy: 3122470302131, CreatedAt: 1742958482000, UpdatedAt: 1772096392711}
}

func app() rum.Application {
	return rum.Application{ApplicationID: "WoyQQ3BohkdtPivubEvE8o", ApplicationName: "App", Type: "ios", ClientToken: "a3cea433a8685a398cdfd68f54a45e06131",
		IsPrivate: true, NoIP: true, NoGeo: true, Status: "disabled", TeamID: 7}
}

func scriptError() rum.Issue {
	return rum.Issue{TeamID: 2477033058131, IssueID: "NHEacQHi2DhXqobr9qPQz9", ApplicationID: "eWbr4xk3ZRnLabRa6unqwD", ApplicationName: "Web shop", Service: "checkout",
		ErrorCount: 752, SessionCount: 381, CreatedAt: 1770883154944, UpdatedAt: 1775961914595,
		FirstSeen: rum.Seen{Timestamp: 1770883154944, Version: "1.0.0"}, LastSeen: rum.Seen{Timestamp: 1775961839090, Version: "1.1.0"},
		Error:          rum.Error{Message: "Script error.", Type: "Error"},
		SuspectedCause: rum.Cause{Source: "auto", Value: "code.exception", Reason: "An exception that nothing caught."},
		Versions:       []string{"1.1.0", "1.0.0"}, Severity: "Info"}
}
