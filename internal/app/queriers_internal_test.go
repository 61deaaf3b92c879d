package app

import (
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"tocsin/internal/querier"
	"tocsin/internal/querier/queriertest"
)

// What is open to webhooks is not open to datasources, which have a list of their own; and no list opens the metadata of clouds.
func TestDatasourcesHaveTheirOwnPolicy(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(queriertest.Write(200, `{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`))
	t.Cleanup(server.Close)
	all := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	for _, c := range []struct {
		name, address string
		config        Config
		says          string // of a refusal
	}{
		{"by default", server.URL, Config{}, "loopback"},
		{"open to webhooks", server.URL, Config{Senders: Senders{Allow: all}}, "loopback"},
		{"open to datasources", server.URL, Config{DatasourceAllow: all}, ""},
		{"metadata", "http://169.254.169.254", Config{DatasourceAllow: all, Senders: Senders{Allow: all}}, "link-local"},
		{"private under --outbound-public", "http://10.255.255.1", Config{Senders: Senders{RefusePrivate: true}}, "private"},
	} {
		asked, failed := (&App{Config: c.config}).queriers().Open(querier.Datasource{Type: "prometheus", Address: c.address, Payload: []byte(`{}`)})
		if failed != nil {
			t.Fatal(failed)
		}
		_, failed = asked.Query(t.Context(), querier.Ask{Expr: "1"})
		if (failed == nil) != (c.says == "") || failed != nil && !strings.Contains(failed.Message, c.says) {
			t.Errorf("%s: %v, want %q", c.name, failed, c.says)
		}
		asked.Close()
	}
}
