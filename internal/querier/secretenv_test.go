package querier_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
)

// opened is a querier that shows what it was opened with.
type opened struct{ with querier.Datasource }

func (opened) Query(context.Context, querier.Ask) ([]evaluate.Row, *evaluate.Failure) {
	return nil, nil
}
func (opened) Test(context.Context) []querier.Phase { return nil }
func (opened) Close() error                         { return nil }

func open(d querier.Datasource, _ *egress.Client) (querier.Querier, *evaluate.Failure) {
	return opened{d}, nil
}

// A reference is resolved for the listed hosts alone; elsewhere a person who manages datasources would choose where it is sent.
func TestReferencesAreResolvedForListedHosts(t *testing.T) {
	t.Setenv("DB_PASSWORD", `quote" in it`)
	env, err := querier.ParseSecretEnv([]string{"DB_PASSWORD=Prom.example.com", "DB_PASSWORD=db.example.com:9090", "NOT_SET=prom.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	listed := querier.Registry{Types: querier.Types{"t": open}, SecretEnv: env}
	for _, c := range []struct{ name, address, payload, want, says string }{
		{"listed", "http://prom.example.com:1234/x", `{"password":"a${env:DB_PASSWORD}b","n":1}`, `{"n":1,"password":"aquote\" in itb"}`, ""},
		{"with its port", "https://DB.example.com:9090", `{"headers":["X: ${env:DB_PASSWORD}"]}`, `{"headers":["X: quote\" in it"]}`, ""},
		{"host and port without a scheme", "db.example.com:9090,prom.example.com", `{"password":"${env:DB_PASSWORD}"}`, `{"password":"quote\" in it"}`, ""},
		{"another port", "https://db.example.com", `{"password":"${env:DB_PASSWORD}"}`, "", "${env:DB_PASSWORD} is not resolved: --secret-env does not list db.example.com for it"},
		{"another host", "http://evil.example.com", `{"password":"${env:DB_PASSWORD}"}`, "", "evil.example.com"},
		{"a second host", "prom.example.com,evil.example.com", `{"password":"${env:DB_PASSWORD}"}`, "", "evil.example.com"},
		{"a user before the host", "http://prom.example.com@evil.example.com", `{"password":"${env:DB_PASSWORD}"}`, "", "evil.example.com"},
		{"another variable", "http://prom.example.com", `{"password":"${env:HOME}"}`, "", "--secret-env HOME=host"},
		{"not set", "http://prom.example.com", `{"password":"${env:NOT_SET}"}`, "", "does not have it"},
		{"in params", "http://prom.example.com", `{"params":["a=${env:DB_PASSWORD}"]}`, "", "params"},
		{"in the address", "http://prom.example.com/${env:DB_PASSWORD}", `{}`, "", "address"},
		{"no reference", "http://evil.example.com", `{"password":"$DB_PASSWORD","n":9007199254740993}`, `{"password":"$DB_PASSWORD","n":9007199254740993}`, ""},
	} {
		got, failed := listed.Open(querier.Datasource{Type: "t", Address: c.address, Payload: []byte(c.payload)})
		if c.says != "" {
			if failed == nil || failed.Kind != evaluate.Denied || !strings.Contains(failed.Message, c.says) || strings.Contains(failed.Message, "quote") {
				t.Errorf("%s: %v", c.name, failed)
			}
			continue
		}
		if failed != nil || string(got.(opened).with.Payload) != c.want {
			t.Errorf("%s: %v %v, want %s", c.name, got, failed, c.want)
		}
	}
	if _, failed := (querier.Registry{Types: querier.Types{"t": open}}).Open(querier.Datasource{Type: "t", Address: "http://prom.example.com", Payload: []byte(`{"password":"${env:DB_PASSWORD}"}`)}); failed == nil || failed.Kind != evaluate.Denied {
		t.Errorf("without a list: %v", failed)
	}
	if _, failed := listed.Open(querier.Datasource{Type: "mysql"}); failed == nil || failed.Kind != evaluate.Unsupported {
		t.Errorf("another type: %v", failed)
	}
}

func TestSecretEnvNamesVariablesAndHosts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "A", "A=", "=h", "a=h", "1A=h", "A=http://h", "A=*", "TOCSIN_DB=h"} {
		if _, err := querier.ParseSecretEnv([]string{text}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestBoundsOfQueries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ask  querier.Ask
		wait time.Duration
		rows int
	}{
		{querier.Ask{}, querier.DefaultTimeout, querier.MaxRows},
		{querier.Ask{Timeout: time.Millisecond, Limit: 5}, querier.MinTimeout, 5},
		{querier.Ask{Timeout: time.Hour, Limit: querier.MaxRows + 1}, querier.DefaultTimeout, querier.MaxRows},
		{querier.Ask{Timeout: time.Second}, time.Second, querier.MaxRows},
	} {
		if c.ask.Wait() != c.wait || c.ask.Rows() != c.rows {
			t.Errorf("%+v: %s, %d rows", c.ask, c.ask.Wait(), c.ask.Rows())
		}
	}
	ask := querier.Ask{Timeout: 30 * time.Second}
	for own, want := range map[int64]time.Duration{0: querier.DefaultTimeout, 20_000: 20 * time.Second, 1 << 60: 30 * time.Second, 1: querier.MinTimeout} {
		if got := ask.WaitOf(own); got != want {
			t.Errorf("timeout_mills %d: %s, want %s", own, got, want)
		}
	}
}
