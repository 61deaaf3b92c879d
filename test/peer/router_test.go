package peer

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/copydb"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/test/pgserver"
)

// routed is an installation with a database of its own.
type routed struct {
	app  *app.App
	dsn  string
	host string
}

func startRouted(t *testing.T, sealKey string) routed {
	t.Helper()
	dsn := dbtest.New(t)
	a, err := app.New(context.Background(), app.Config{
		DB: dsn, SealKeyFile: sealKey, Listen: "127.0.0.1:0", Clock: clock.System, Version: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return routed{a, dsn, strings.TrimPrefix(s.URL, "http://")}
}

// load imports an account with a source.
func (r routed) load(t *testing.T, account int) {
	t.Helper()
	f, err := accountfile.Read(strings.NewReader(fmt.Sprintf(`{"format": "tocsin.account/1",
		"account": {"account_id": %[1]d, "account_name": "Account", "time_zone": "UTC", "owner_id": %[1]d1},
		"persons": [{"person_id": %[1]d1, "person_name": "Olga", "email": "olga@example.com"}],
		"channels": [{"channel_id": %[1]d2, "channel_name": "Shop"}],
		"integrations": [{"integration_id": %[1]d3, "integration_name": "Events", "integration_type": "standard", "channel_id": %[1]d2,
			"integration_key": "%[2]s"}]}`, account, routedKey(account))))
	if err == nil {
		err = accountfile.Import(context.Background(), r.app.DB, r.app.Keyring, f, time.Now(), false)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func routedKey(account int) string { return fmt.Sprintf("key-of-account-%d-0123456789abcdef", account) }

// taken returns how many different events of the sender the account has.
func (r routed) taken(t *testing.T, account int) (n int64) {
	t.Helper()
	if err := r.app.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], `SELECT count(DISTINCT body) FROM (
			SELECT substr(body, 1, 60) AS body FROM event WHERE account_id = $1) AS events`, account)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// routerConfig returns the documented configuration with the addresses of a test.
func routerConfig(t *testing.T, dir string, listen int, one, two string) string {
	t.Helper()
	text, err := os.ReadFile("../../deploy/router/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	user := ""
	if os.Getuid() == 0 { // else its workers could not write into the test's folder
		user = "user root;\n"
	}
	temporary := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary += fmt.Sprintf("  %s_temp_path %s/%s;\n", kind, dir, kind)
	}
	config := fmt.Sprintf("%sdaemon off;\npid %s/nginx.pid;\n%s", user, dir, text)
	for from, to := range map[string]string{
		"worker_processes auto;": "worker_processes 1;", "http {\n": "http {\n" + temporary, "listen 8080;": fmt.Sprintf("listen 127.0.0.1:%d;", listen),
		"one.internal:8080": one, "two.internal:8080": two, "/var/log/nginx": dir,
	} {
		if !strings.Contains(config, from) {
			t.Fatalf("the configuration lacks %q", from)
		}
		config = strings.ReplaceAll(config, from, to)
	}
	return config
}

// source sends the events of an account through the router, each until it is taken.
type source struct {
	account       int
	sent, refused atomic.Int64
	stop          atomic.Bool
	done          chan error
}

func (s *source) run(url string) {
	client := http.Client{Timeout: timeout}
	for !s.stop.Load() {
		n := s.sent.Add(1)
		body := fmt.Sprintf(`{"alert_key": "event-%06d", "title_rule": "t", "event_status": "Info"}`, n)
		for end := time.Now().Add(timeout); ; time.Sleep(20 * time.Millisecond) {
			taken, err := send(client, url+"/event/push/alert/standard?integration_key="+routedKey(s.account), body)
			if err == nil && !taken && time.Now().After(end) {
				err = fmt.Errorf("event %d was not taken within %s", n, timeout)
			}
			if err != nil {
				s.done <- err
				return
			}
			if taken {
				break
			}
			s.refused.Add(1)
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.done <- nil
}

// send reports whether an event was taken. It returns an error for an answer after which a sender may give up.
func send(client http.Client, url, body string) (taken bool, err error) {
	reply, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return false, nil // nginx closes idle connections when it reads its map again, perhaps as a request arrives on one
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode == http.StatusServiceUnavailable {
		return false, nil
	}
	if reply.StatusCode != http.StatusOK {
		return false, fmt.Errorf("%d %s", reply.StatusCode, text)
	}
	return true, nil
}

// Two installations behind the documented router. An account moves from one to the other while its events arrive, and then
// the map is changed: each event that was sent is there, and the other account notices nothing.
func TestAccountMovesBehindRouter(t *testing.T) {
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		nginx = "/usr/sbin/nginx"
		if exec.Command(nginx, "-v").Run() != nil {
			t.Skip("nginx is not installed: apt-get install nginx-light")
		}
	}
	dir, listen := t.TempDir(), pgserver.PortOf(t)
	key := filepath.Join(dir, "seal.key")
	one := startRouted(t, key)
	two := startRouted(t, key)
	const moves, stays = 71, 72
	one.load(t, moves)
	one.load(t, stays)
	routes := func(of string) {
		write(t, dir, "accounts.map", fmt.Sprintf("%s %s;\n%s one;\n", routedKey(moves), of, routedKey(stays)))
	}
	routes("one")
	write(t, dir, "nginx.conf", routerConfig(t, dir, listen, one.host, two.host))
	run(t, dir, nginx, "-p", dir, "-e", "stderr", "-c", filepath.Join(dir, "nginx.conf"))
	url := fmt.Sprintf("http://127.0.0.1:%d", listen)
	ask := func(key string) int {
		reply, err := http.Post(url+"/event/push/alert/standard?integration_key="+key, "application/json", strings.NewReader(`[]`))
		if err != nil {
			return 0
		}
		reply.Body.Close()
		return reply.StatusCode
	}
	until(t, func() bool { return ask("unknown") == http.StatusServiceUnavailable }, "the router does not answer a key that it lacks with 503")

	moving, staying := &source{account: moves, done: make(chan error, 1)}, &source{account: stays, done: make(chan error, 1)}
	go moving.run(url)
	go staying.run(url)
	until(t, func() bool { return moving.sent.Load() > 20 }, "no events were taken")
	move := copydb.Move{From: one.dsn, To: two.dsn, Account: moves, Archive: filepath.Join(dir, "archive.db"), Address: "https://two.example.com", Now: time.Now(), Step: func(string) {}}
	until(t, func() bool { // a busy embedded database may refuse it; nothing was moved then
		_, err := move.Run(t.Context())
		if err != nil {
			t.Log(err)
		}
		return err == nil
	}, "the account was not moved")
	before := moving.refused.Load()
	until(t, func() bool { return moving.refused.Load() > before+2 || len(moving.done) > 0 }, "the sender is not asked to repeat what the map does not know yet")
	if len(moving.done) > 0 {
		t.Fatal(<-moving.done)
	}
	routes("two")
	if out, err := exec.Command(nginx, "-p", dir, "-e", "stderr", "-c", filepath.Join(dir, "nginx.conf"), "-s", "reload").CombinedOutput(); err != nil {
		t.Fatalf("nginx -s reload: %v\n%s", err, out)
	}
	after := moving.sent.Load()
	until(t, func() bool { return moving.sent.Load() > after+20 }, "no events are taken after the move")
	for _, s := range []*source{moving, staying} {
		s.stop.Store(true)
		if err := <-s.done; err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		s     *source
		at    routed
		other routed
	}{{moving, two, one}, {staying, one, two}} {
		if got, want := c.at.taken(t, c.s.account), c.s.sent.Load(); got != want {
			t.Errorf("account %d: %d events of %d", c.s.account, got, want)
		}
		if got := c.other.taken(t, c.s.account); got != 0 {
			t.Errorf("account %d: %d events in the other database", c.s.account, got)
		}
	}
	if n := staying.refused.Load(); n > 0 {
		t.Logf("the other account was asked %d times to repeat", n)
	}
}
