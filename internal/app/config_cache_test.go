package app_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/app"
)

// reads are calls whose answers depend on an account's cached configuration, or on what belongs to it.
var reads = []struct{ path, body string }{
	{"/schedule/info", `{"schedule_id":$schedule_id,"start":1776009600,"end":1776614400}`},
	{"/schedule/infos", `{"schedule_ids":[$schedule_id,$schedule_id]}`},
	{"/schedule/lint", `{"schedule_ids":[$schedule_id]}`},
	{"/person/infos", `{"person_ids":[$person_id,$person_id,$person_id]}`},
	{"/channel/info", `{"channel_id":$channel_id}`},
	{"/channel/infos", `{"channel_ids":[$channel_id,$channel_id]}`},
	{"/channel/list", `{"limit":50}`},
	{"/channel/silence/rule/list", `{"channel_id":$channel_id}`},
	{"/channel/unsubscribe/rule/list", `{"channel_id":$channel_id}`},
	{"/channel/inhibit/rule/list", `{"channel_id":$channel_id}`},
	{"/channel/escalate/rule/list", `{"channel_id":$channel_id}`},
	{"/team/info", `{"team_id":$team_id}`},
	{"/calendar/info", `{"cal_id":"$cal_id"}`},
	{"/integration/info", `{"integration_id":$integration_id}`},
	{"/alert/list", `{"limit":10,"start_time":1776009600,"end_time":1776614400}`},
}

var requestID = regexp.MustCompile(`"request_id":"[0-9A-Z]{26}"`)

// reply returns the reply of a node without its request id.
func reply(a *app.App, key, path, body string) string {
	r := httptest.NewRequest("POST", path+"?app_key="+key, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	a.Frame.ServeHTTP(w, r)
	return fmt.Sprint(w.Code, requestID.ReplaceAllString(w.Body.String(), ""))
}

// TestCachesAgreeWithDatabase changes and reads the configuration on two nodes of one database. Each reply must be
// equal to that of a node that has just started, and so has nothing in its caches. TOCSIN_CACHE_SEEDS sets how many runs
// of 60 changes and comparisons it makes.
func TestCachesAgreeWithDatabase(t *testing.T) {
	t.Parallel()
	for seed := range uint64(apitest.Setting(t, "TOCSIN_CACHE_SEEDS", 1)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			one, _, owner, nobody := start(t)
			open := func() *app.App {
				a, err := app.New(context.Background(), one.Config)
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
			two := open()
			defer two.Close()
			nodes := []*app.App{one, two}
			r := rand.New(rand.NewPCG(seed, 12))
			ids := map[string][]string{}
			found := 0
			filled := func(body string, word int) string {
				body = place.ReplaceAllStringFunc(body, func(name string) string {
					known := ids[name[1:]]
					if len(known) == 0 {
						return "1"
					}
					return known[max(0, len(known)-1-r.IntN(3))] // one of the latest
				})
				return strings.ReplaceAll(body, "~", fmt.Sprint("w", word))
			}
			for round := range 60 {
				for word := range 3 {
					c := changes[r.IntN(len(changes))]
					reply := reply(nodes[r.IntN(2)], owner, c.path, filled(c.body, 10*round+word))
					for _, m := range idNames.FindAllSubmatch([]byte(reply), -1) {
						name := string(bytes.Replace(m[1], []byte("member"), []byte("person"), 1))
						ids[name] = append(ids[name], string(m[2]))
					}
				}
				fresh := open()
				for range 8 {
					c, key := reads[r.IntN(len(reads))], []string{owner, nobody}[r.IntN(2)]
					body := filled(c.body, 0)
					want := reply(fresh, key, c.path, body)
					for i, node := range nodes {
						if got := reply(node, key, c.path, body); got != want {
							t.Fatalf("round %d: node %d answers %s %s\n%s\nwant\n%s", round, i, c.path, body, got, want)
						}
					}
					if strings.HasPrefix(want, fmt.Sprint(http.StatusOK)) {
						found++
					}
				}
				fresh.Close()
			}
			if found < 100 {
				t.Errorf("only %d reads found something", found)
			}
		})
	}
}
