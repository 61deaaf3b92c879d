package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
)

// FuzzCall sends any bytes as a body. The answer must be a well-formed reply and not an internal error. A body that was
// accepted must be accepted again as it came back, and the audit log must store valid JSON.
func FuzzCall(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `[]`, minimal, minimal + "x", `{"name":"ball","then":"refuse"}`, `{"id":1}`, "\xff", `{"name":"\ud800"}`,
		with(`"big":9223372036854775807,"huge":18446744073709551615,"small":-128,"mode":1,"ratio":5e-1,"on":true`),
		with(`"kind":"red","id":"00ff","code":"AB","tags":["a","b"],"ids":[1,2],"labels":{"a.b":"c"},"counts":{"x":1}`),
		with(`"parts":[{"weight":1,"inner":{"weight":2,"parts":[{"weight":3}]}}],"free":{"x":[1.50,null]},"from":1,"to":2,"colour":"red"`),
		with(`"big":1e3`), with(`"ratio":1e999`), with(`"a":1,"a":2`), with(`"tags":null`), with(`"parts":[null]`), `{"name":{"name":[[[[]]]]}}`,
	} {
		f.Add([]byte(seed))
	}
	check := func(_ *db.Tx, e api.AuditEntry) error {
		if !json.Valid([]byte(e.Body)) {
			f.Errorf("recorded %q", e.Body)
		}
		return nil
	}
	s := withToys(apitest.StartConfig(f, func(c *api.Config) { c.Audit = check }, toys()))
	call := func(t *testing.T, path string, body []byte) apitest.Reply {
		w := serve(s, path+"?app_key="+apitest.KeyA, string(body), http.Header{"Content-Type": {"application/json"}})
		r, err := apitest.ReadReply(w.Code, w.Header(), w.Body.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, path := range []string{echo, info, list, create} {
			r := call(t, path, body)
			asked := path == create && (json.Valid(body)) && r.Code == "InternalError" // fail, panic, unspeakable
			if r.Status >= 500 && !asked {
				t.Errorf("%s answers %q with %d %s", path, body, r.Status, r.Body)
			}
			if path != echo || r.Code != "" {
				continue
			}
			if again := call(t, path, r.Data); again.Code != "EntityTooLarge" && string(again.Data) != string(r.Data) {
				t.Errorf("%q comes back as %s and then as %s", body, r.Data, again.Body)
			}
		}
	})
}
