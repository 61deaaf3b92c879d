package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tocsin/internal/engine/evaluator/remote"
)

func TestEdgeRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	refuse := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"request_id":"x","error":{"code":"Unauthorized","message":"no"}}`)
	}))
	t.Cleanup(refuse.Close)
	key := filepath.Join(t.TempDir(), "key")
	other := filepath.Join(t.TempDir(), "key")
	for path, text := range map[string]string{key: "ek_abc\n", other: "app_key"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, each := range []struct {
		args string
		code int
		want string
	}{
		{"--server https://x", Misuse, "--key-file"},
		{"--key-file " + key, Misuse, "--server"},
		{"--server https://x --key-file " + other, Failed, "begins with ek_"},
		{"--server http://tocsin.example.com --key-file " + key, Failed, "sent in clear"},
		{"--server https://x --only here --key-file " + key, Misuse, "--only"},
		{"--server https://x --stale-config 1s --key-file " + key, Misuse, "from 1m to 720h"},
		{"--server https://x --secret-env TOCSIN_X=y --key-file " + key, Misuse, "--secret-env"},
		{"--server " + refuse.URL + " --key-file " + key, Failed, "does not accept the key"},
	} {
		var out, errOut strings.Builder
		args := append([]string{"edge", "--name", "a", "--dir", t.TempDir()}, strings.Fields(each.args)...)
		if code := Run(args, &out, &errOut); code != each.code || !strings.Contains(errOut.String(), each.want) {
			t.Errorf("%s: %d, %s", each.args, code, errOut.String())
		}
		if strings.Contains(errOut.String(), "ek_abc") {
			t.Error("the key is printed")
		}
	}
}

// A key that is disabled while the edge runs ends it.
func TestEdgeEndsWhenItsKeyIsDisabled(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == remote.PathJoin {
			fmt.Fprint(w, `{"request_id":"x","data":{"edge_id":"0000000000000001","account_id":1,"cluster":"fra","now":1}}`)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"request_id":"x","error":{"code":"Unauthorized","message":"no"}}`)
	}))
	t.Cleanup(s.Close)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("ek_abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errOut strings.Builder
	code := Run([]string{"edge", "--name", "a", "--dir", t.TempDir(), "--server", s.URL, "--key-file", key}, &out, &errOut)
	if code != Failed || !strings.Contains(errOut.String(), "does not accept the key") {
		t.Errorf("%d, %s", code, errOut.String())
	}
}
