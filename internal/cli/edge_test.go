package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
