// Package apitest runs operations in tests the way callers do: over real HTTP, on a real database file,
// with a clock that the test moves. Only tests import it; the product must never.
package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/audit"
	"tocsin/internal/auth"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/ratelimit"
)

// Now is where a Server's clock starts: Monday 2026-04-13 04:00:00 UTC, noon in Shanghai.
var Now = time.Unix(1776052800, 0).UTC()

// The two accounts of every Server. Each has an owner. Account A has a person Reader as well, whose role Grant sets,
// and a person Stranger without a role.
const (
	AccountA = 2451002751131
	OwnerA   = 2476123212131
	Reader   = 2659460982131
	Stranger = 3122470302131
	AccountB = 9900000000001
	OwnerB   = 9900000000002
	TeamA    = 4291079133131 // of account A; OwnerA and Reader are in it, Stranger is not
)

// The keys of a Server, as secrets.
const (
	KeyA       = "tk_owner_of_account_a_0123456789abcdef"  // owner of A: every permission
	KeyReader  = "tk_reader_in_account_a_0123456789abcdef" // person Reader: what Grant set
	KeyNothing = "tk_nothing_in_account_a_0123456789abcde" // person Stranger: no role
	KeyB       = "tk_owner_of_account_b_0123456789abcdef"  // owner of B
)

// Server is a frame with the operations under test, listening on loopback.
type Server struct {
	URL   string
	DB    *db.DB
	Keys  *auth.Keys
	Clock *clock.Manual
	Frame *api.Frame
	Close func() // stops the server when all calls in flight have been answered
	dsn   string
	t     testing.TB
}

// Again opens the database of the server once more, as a second process on it does.
func (s *Server) Again() *db.DB {
	s.t.Helper()
	return connect(s.t, s.dsn)
}

// Start opens an empty database, seeds the two accounts (zone Asia/Shanghai and America/New_York) and
// serves ops without rate limits.
func Start(t testing.TB, ops ...[]api.Op) *Server {
	return StartWith(t, ratelimit.Rate{}, ops...)
}

// StartWith is Start with rate limits.
func StartWith(t testing.TB, rate ratelimit.Rate, ops ...[]api.Op) *Server {
	t.Helper()
	return StartConfig(t, func(c *api.Config) { c.Rate = rate }, ops...)
}

// StartConfig is Start with a frame whose configuration change modifies.
func StartConfig(t testing.TB, change func(*api.Config), ops ...[]api.Op) *Server {
	t.Helper()
	dsn := seeded.Copy(t)
	d := connect(t, dsn)
	c := clock.At(Now)
	config := api.Config{DB: d, Keys: auth.NewKeys(d, c), Clock: c, Log: slog.New(slog.DiscardHandler), Audit: audit.Record, Build: "test"}
	change(&config)
	s := &Server{DB: d, dsn: dsn, Keys: config.Keys, Clock: c, t: t}
	config.Audit = s.revised(config.Audit)
	s.Frame = api.New(config, ops...)
	http := httptest.NewServer(s.Frame)
	t.Cleanup(http.Close)
	s.URL, s.Close = http.URL, http.Close
	return s
}

// OpenDB opens an empty, migrated database file that is deleted with the test.
func OpenDB(t testing.TB) *db.DB {
	t.Helper()
	return connect(t, dbtest.Migrated(t))
}

// Person adds a person, verified by e-mail and enabled.
func (s *Server) Person(account, person int64, name string) {
	s.t.Helper()
	s.Write(func(tx *db.Tx) error { return addPerson(tx, account, person, name) })
}

// Key adds an app key of a person with this secret.
func (s *Server) Key(account, person int64, secret string) {
	s.t.Helper()
	s.Write(func(tx *db.Tx) error { return addKey(tx, account, person, secret) })
}

// Grant sets the permissions of account A's Reader, from the next call on.
func (s *Server) Grant(permissions ...auth.Permission) {
	names := []string{}
	for _, p := range permissions {
		names = append(names, p.String())
	}
	list, err := json.Marshal(names)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Exec(`DELETE FROM person_role WHERE account_id = $1`, AccountA)
	s.Exec(`INSERT INTO role (account_id, role_id, role_name, permissions) VALUES ($1, 1, 'granted', $2)
		ON CONFLICT (account_id, role_id) DO UPDATE SET permissions = excluded.permissions`, AccountA, string(list))
	s.Exec(`INSERT INTO person_role (account_id, person_id, role_id) VALUES ($1, $2, 1)`, AccountA, Reader)
	s.Clock.Add(time.Second) // a principal is cached for half a second
}

// Exec runs SQL in a transaction of its own, for fixtures.
func (s *Server) Exec(query string, args ...any) {
	s.t.Helper()
	s.Write(func(tx *db.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
}

// Write runs fn in a write transaction, for fixtures that use a package's own functions.
func (s *Server) Write(fn func(tx *db.Tx) error) {
	s.t.Helper()
	if err := s.DB.Write(context.Background(), func(tx *db.Tx) error { return errors.Join(fn(tx), count(tx)) }); err != nil {
		s.t.Fatal(err)
	}
}

// Read runs fn on one state of the database, to check what calls have stored.
func (s *Server) Read(fn func(tx *db.Tx) error) {
	s.t.Helper()
	if err := s.DB.Snapshot(context.Background(), fn); err != nil {
		s.t.Fatal(err)
	}
}

// Reply is the reply to a call.
type Reply struct {
	Status  int
	Header  http.Header
	Body    []byte
	Code    string          // error.code, empty on success
	Message string          // error.message
	Data    json.RawMessage // of a failure: nil, or with ReferenceExist what refers to the object
	t       testing.TB
}

// Call posts body, which is a string of JSON or a value to encode, to path with the key in the query.
func (s *Server) Call(key, path string, body any) Reply {
	s.t.Helper()
	text, ok := body.(string)
	if !ok {
		b, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		text = string(b)
	}
	r := s.Request("POST", path+"?app_key="+key, text)
	r.Header.Set("Content-Type", "application/json")
	return s.Do(r)
}

// Request makes a request to the server without any header, for tests that need another than Call's.
func (s *Server) Request(method, target, body string) *http.Request {
	s.t.Helper()
	r, err := http.NewRequest(method, s.URL+target, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// Do sends any request and reads the reply, which must be an envelope or an error.
func (s *Server) Do(r *http.Request) Reply {
	s.t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	reply, err := ReadReply(response.StatusCode, response.Header, body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	reply.t = s.t
	if reply.Code == "" {
		CheckReference(s.t, r.URL.Path, reply.Data)
	} else if !s.Frame.Declares(r.URL.Path, reply.Code) {
		s.t.Errorf("%s answers %s, which its Errors do not declare: %s", r.URL.Path, reply.Code, reply.Message)
	}
	return reply
}

// ReadReply decodes a reply. It returns an error if the reply is neither an envelope nor an error, if header and body
// disagree, or if an object in it has two members of one name.
func ReadReply(status int, header http.Header, body []byte) (Reply, error) {
	var shape struct {
		RequestID string `json:"request_id"`
		Data      json.RawMessage
		Error     *struct{ Code, Message string }
	}
	var members map[string]jsontext.Value // their decoder rejects a name that an object has twice, at any depth
	if err := errors.Join(json.Unmarshal(body, &shape), strict.Unmarshal(body, &members)); err != nil {
		return Reply{}, fmt.Errorf("status %d with a body that is not strict JSON: %w: %s", status, err, body)
	}
	id := header.Get("Service-Request-Id")
	switch failed := status != http.StatusOK; {
	case header.Get("Content-Type") != "application/json; charset=utf-8":
		return Reply{}, fmt.Errorf("content type %q", header.Get("Content-Type"))
	case len(id) != 26 || id != shape.RequestID || id != header.Get("Flashcat-Request-Id"):
		return Reply{}, fmt.Errorf("request id %q and %q in the headers, %q in the body", id, header.Get("Flashcat-Request-Id"), shape.RequestID)
	case failed == (shape.Error == nil):
		return Reply{}, fmt.Errorf("status %d with body %s", status, body)
	case failed && (shape.Error.Code == "ReferenceExist" || shape.Error.Code == "RequestVerifyFailed"): // the failures with data
		if len(members) != 3 || shape.Data == nil {
			return Reply{}, fmt.Errorf("%s without data: %s", shape.Error.Code, body)
		}
	case !failed && len(members) == 3 && len(members["warnings"]) > 0 && bytes.HasPrefix(shape.Data, []byte("[")): // a list with warnings
	case len(members) != 2 || failed == (shape.Data != nil):
		return Reply{}, fmt.Errorf("status %d with body %s", status, body)
	case failed && (shape.Error.Code == "" || shape.Error.Message == ""):
		return Reply{}, fmt.Errorf("an error without code or message: %s", body)
	}
	reply := Reply{Status: status, Header: header, Body: body, Data: shape.Data}
	if shape.Error != nil {
		reply.Code, reply.Message = shape.Error.Code, shape.Error.Message
	}
	return reply, nil
}

// Into decodes data; the call must have succeeded.
func (r Reply) Into(data any) {
	r.t.Helper()
	if r.Code != "" {
		r.t.Fatalf("status %d: %s: %s", r.Status, r.Code, r.Message)
	}
	if err := json.Unmarshal(r.Data, data); err != nil {
		r.t.Fatalf("%v in %s", err, r.Data)
	}
}
