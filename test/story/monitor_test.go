package story

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/channel"
)

// meter is a server that answers as a Prometheus does: with the series that the test sets.
type meter struct {
	mu     sync.Mutex
	values map[string]float64 // by the label host
	status int                // 0: 200
	asked  int
}

func (m *meter) set(values map[string]float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values = values
}

func (m *meter) fail(status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.status = status
}

func (m *meter) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// ServeHTTP answers a query.
func (m *meter) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	w.Header().Set("Content-Type", "application/json")
	if m.status != 0 {
		w.WriteHeader(m.status)
		fmt.Fprint(w, `{"status":"error","errorType":"internal","error":"no"}`)
		return
	}
	var rows []string
	for host, v := range m.values {
		rows = append(rows, fmt.Sprintf(`{"metric":{"__name__":"cpu","host":%q},"value":[1,"%v"]}`, host, v))
	}
	fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, strings.Join(rows, ","))
}

// beginMeter starts a world with a datasource. Its channel groups alerts as their source does, the default of a new channel.
func beginMeter(t *testing.T, more ...string) (*world, *meter) {
	t.Helper()
	m := &meter{values: map[string]float64{}}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	w := beginWith(t, func(c *app.Config) { c.DatasourceAllow = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} }, more...)
	w.do("/channel/update", `{"channel_id": %d, "group": {"method": "p", "equals": [["group_key"]]}}`, shop)
	w.do("/monit/datasource/create", `{"type_ident": "prometheus", "name": "prometheus-fra", "address": %q, "edge_cluster_name": "default", "payload": {"prometheus": {}}}`, server.URL)
	return w, m
}

// rule creates a rule on all datasources, and returns its id.
func (w *world) rule(name, configs string, more ...string) string {
	w.t.Helper()
	return w.do("/monit/rule/create", `{"name": %q, "ds_type": "prometheus", "ds_list": ["*"], "cron_pattern": "@every 15s", "channel_ids": [%d], "rule_configs": %s%s}`,
		name, shop, configs, strings.Join(append([]string{""}, more...), ", ")).get("id")
}

// hot is a rule that fires after two answers above 90, and ends after two below.
const hot = `{"queries": [{"name": "A", "expr": "cpu"}], "check_threshold": {"enabled": true, "alerting_check_times": 2, "recovery_check_times": 2, "critical": "$A > 90"}}`

func TestRulePagesAndEnds(t *testing.T) {
	t.Parallel()
	w, m := beginMeter(t, notifyAnn)
	id := w.rule("CPU hot", hot, `"description": "{{$labels.host}} is at {{$value}}."`)
	m.set(map[string]float64{"web1": 97, "web2": 12})
	w.pass(15 * time.Second)
	w.notified()
	w.pass(30 * time.Second)
	w.one("[Critical] CPU hot: host=web1", "$A > 90", "web1 is at 97.")
	state := w.do("/monit/rule/state", `{"id": %s}`, id)
	w.want(state, "runtime_state", "normal")
	w.want(state, "instances.0.state", "firing")
	w.want(state, "instances.0.labels.host", "web1")
	w.want(state, "watches.0.last.outcome", "known")
	w.want(state, "instances.1.state", "")
	if why := w.whole(w.do("/alert/list", `{"start_time": %d, "end_time": %d}`, w.clock.Now().Unix()-3600, w.clock.Now().Unix()+60).get("items.0.alert_key")); !strings.Contains(why, "asked the datasource prometheus-fra about") || !strings.Contains(why, "returned 97") {
		t.Errorf("the explanation is %s", why)
	}
	w.pass(time.Minute)
	w.notified()
	m.set(map[string]float64{"web1": 50, "web2": 12})
	w.pass(time.Minute)
	w.one("[Resolved] CPU hot: host=web1")
	history := w.do("/monit/rule/history", `{"id": %s}`, id)
	w.want(history, "total", "2")
	w.want(history, "items.0.to", "recovered")
	w.want(history, "items.1.to", "begin")
	explained := w.do("/monit/rule/explain", `{"rule_id": %s, "ds_id": 1}`, id)
	w.want(explained, "queries.0.expr", "cpu")
	w.want(explained, "queries.0.values.", "50")
}

// A rule is tried before it is stored: the reply has what the datasource answered.
func TestRuleIsTriedBeforeItIsStored(t *testing.T) {
	t.Parallel()
	w, m := beginMeter(t)
	m.set(map[string]float64{"web1": 97, "web2": 12})
	const body = `{"name": %q, "ds_type": "prometheus", "ds_list": ["*"], "cron_pattern": "@every 15s", "strict": %t, "rule_configs": ` + hot + `}`
	r := w.do("/monit/rule/create", body, "good", true)
	w.want(r, "checks.0.status", "ok")
	w.want(r, "checks.0.series", "2")
	m.fail(http.StatusUnprocessableEntity)
	w.want(w.do("/monit/rule/create", body, "broken", false), "checks.0.status", "failed")
	if r := w.try(ownKey, "/monit/rule/create", body, "strict", true); r.Error == nil || r.Error.Code != "InvalidParameter" {
		t.Errorf("a rule whose query fails: %s", r)
	}
}

func TestRuleGoesOnAfterRestart(t *testing.T) {
	t.Parallel()
	w, m := beginMeter(t, notifyAnn)
	w.rule("CPU hot", hot)
	m.set(map[string]float64{"web1": 97})
	w.pass(45 * time.Second)
	w.one("[Critical] CPU hot: host=web1")
	w.restart()
	w.pass(time.Minute)
	w.notified()
	w.restart()
	m.set(map[string]float64{"web1": 7})
	w.pass(time.Minute)
	w.one("[Resolved] CPU hot: host=web1")
}

func TestLostDatasourceEndsNothing(t *testing.T) {
	t.Parallel()
	w, m := beginMeter(t, notifyAnn)
	for i := range 8 {
		w.rule(fmt.Sprint("CPU ", i), hot)
	}
	m.set(map[string]float64{"web1": 97})
	w.pass(45 * time.Second)
	if n := len(w.newPages()); n != 8 {
		t.Errorf("%d pages, want 8", n)
	}
	m.fail(http.StatusBadGateway)
	w.pass(10 * time.Minute)
	pages := w.newPages()
	if len(pages) != 1 || !strings.Contains(pages[0].subject, "The datasource prometheus-fra cannot be reached: 8 alert rules do not see (8 Critical)") {
		t.Errorf("%d pages: %+v", len(pages), pages)
	}
	if n := len(w.incidents()); n != 8 {
		t.Errorf("%d incidents, want 8", n)
	}
	m.fail(0)
	w.pass(2 * time.Minute)
	w.one("Over: The datasource prometheus-fra cannot be reached")
}

func TestRuleWithoutAnswerIsAlertedAlone(t *testing.T) {
	t.Parallel()
	w, m := beginMeter(t, notifyAnn)
	w.rule("CPU hot", hot)
	m.fail(http.StatusUnprocessableEntity)
	w.pass(10 * time.Minute)
	pages := w.newPages()
	if len(pages) != 1 || !strings.Contains(pages[0].subject, "The alert rule CPU hot is not known on prometheus-fra: query") {
		t.Errorf("%d pages: %+v", len(pages), pages)
	}
	m.fail(0)
	w.pass(time.Minute)
	w.one("Over: The alert rule CPU hot is not known on prometheus-fra: query")
}

func TestDisabledRuleClosesItsAlerts(t *testing.T) {
	t.Parallel()
	w, m := beginMeter(t, notifyAnn)
	id := w.rule("CPU hot", hot)
	m.set(map[string]float64{"web1": 97})
	w.pass(45 * time.Second)
	w.one("[Critical] CPU hot: host=web1")
	w.do("/monit/rule/update", `{"id": %s, "name": "CPU hot", "enabled": false, "ds_type": "prometheus", "ds_list": ["*"], "cron_pattern": "@every 15s", "channel_ids": [%d], "rule_configs": %s}`, id, shop, hot)
	w.one("[Resolved] CPU hot: host=web1")
	history := w.do("/monit/rule/history", `{"id": %s}`, id)
	w.want(history, "items.0.to", "closed")
	w.want(history, "items.0.why.0", "the rule was disabled by Olga Owner")
	before := m.count()
	w.pass(2 * time.Minute)
	w.notified()
	if m.count() != before {
		t.Errorf("a disabled rule asked %d times", m.count()-before)
	}
}

// beginHot begins with an alert of the account's only rule, and returns the account's file.
func beginHot(t *testing.T) (*world, *accountfile.File) {
	t.Helper()
	w, m := beginMeter(t, notifyAnn)
	w.rule("CPU hot", hot)
	m.set(map[string]float64{"web1": 97})
	w.pass(45 * time.Second)
	w.one("[Critical] CPU hot: host=web1")
	f, err := accountfile.Export(t.Context(), w.app.DB, w.app.Keyring, account, false)
	w.must(err)
	return w, f
}

// An account file removes the account's only rule: nothing evaluates it any more, and what it has open ends.
func TestRuleThatAccountFileRemovesClosesItsAlerts(t *testing.T) {
	t.Parallel()
	w, f := beginHot(t)
	f.AlertRules = nil
	_, err := accountfile.Apply(t.Context(), w.app.DB, w.app.Keyring, f, w.clock.Now(), accountfile.Options{Prune: true})
	w.must(err)
	w.pass(45 * time.Second)
	w.one("[Resolved] CPU hot: host=web1")
}

func TestChannelThatAccountFileDisablesEndsAlertsOfRules(t *testing.T) {
	t.Parallel()
	w, f := beginHot(t)
	for _, c := range []struct{ status, page string }{{"disabled", "[Resolved] CPU hot: host=web1"}, {"enabled", "[Critical] CPU hot: host=web1"}} {
		at := slices.IndexFunc(f.Channels, func(ch channel.Channel) bool { return ch.ChannelID == shop })
		f.Channels[at].Status = c.status
		_, err := accountfile.Apply(t.Context(), w.app.DB, w.app.Keyring, f, w.clock.Now(), accountfile.Options{})
		w.must(err)
		w.pass(time.Minute)
		w.one(c.page)
	}
}

func TestDatasourceThatIsRenamedAwayClosesAlerts(t *testing.T) {
	t.Parallel()
	w, m := beginMeter(t, notifyAnn)
	w.do("/monit/rule/create", `{"name": "CPU hot", "ds_type": "prometheus", "ds_list": ["prometheus-*"], "cron_pattern": "@every 15s", "channel_ids": [%d], "rule_configs": %s}`, shop, hot)
	m.set(map[string]float64{"web1": 97})
	w.pass(45 * time.Second)
	w.one("[Critical] CPU hot: host=web1")
	w.do("/monit/datasource/update", `{"id": 1, "name": "other"}`)
	w.one("[Resolved] CPU hot: host=web1")
	w.do("/monit/datasource/update", `{"id": 1, "name": "prometheus-ams"}`)
	w.pass(45 * time.Second)
	w.one("[Critical] CPU hot: host=web1")
	w.do("/monit/datasource/update", `{"id": 1, "enabled": false}`)
	w.one("[Resolved] CPU hot: host=web1")
}

func TestRuleWithoutChannelsIsRouted(t *testing.T) {
	t.Parallel()
	w, m := beginMeter(t, notifyAnn)
	w.do("/monit/rule/create", `{"name": "CPU hot", "ds_type": "prometheus", "ds_list": ["*"], "cron_pattern": "@every 15s", "rule_configs": %s}`, hot)
	list := w.do("/integration/list", `{"query": "Monitors"}`)
	w.want(list, "items.0.integration_type", "monit.alert")
	monitors := list.get("items.0.integration_id")
	w.do("/integration/update", `{"integration_id": %s, "channel_id": %d}`, monitors, shop)
	if r := w.try(ownKey, "/integration/delete", `{"integration_id": %s}`, monitors); r.Error == nil || !strings.Contains(r.Error.Message, "cannot be deleted") {
		t.Errorf("deleting the integration: %s", r)
	}
	m.set(map[string]float64{"web1": 97})
	w.pass(45 * time.Second)
	w.one("[Critical] CPU hot: host=web1")
}

func TestEqualQueriesAreAskedOnce(t *testing.T) {
	t.Parallel()
	w, m := beginMeter(t, notifyAnn)
	for i := range 10 {
		w.rule(fmt.Sprint("CPU ", i), hot)
	}
	before := m.count() // each rule was tried
	w.pass(2 * time.Minute)
	if n := m.count() - before; n < 2 || n > 10 {
		t.Errorf("%d requests in 8 intervals of 10 rules with one query", n)
	}
}

// What a process had counted when it was killed is stored: the rule neither begins again nor forgets.
func TestRuleGoesOnAfterKill(t *testing.T) {
	t.Parallel()
	w, m := beginMeter(t, notifyAnn)
	w.rule("CPU hot", hot)
	m.set(map[string]float64{"web1": 97})
	w.pass(45 * time.Second)
	w.one("[Critical] CPU hot: host=web1")
	killed := w.app
	t.Cleanup(func() { killed.Close() })
	w.http.Close()
	w.open()
	w.pass(time.Minute)
	w.notified()
	m.set(map[string]float64{"web1": 7})
	w.pass(time.Minute)
	w.one("[Resolved] CPU hot: host=web1")
}

// Of two processes on one database, one evaluates a rule at a time, and the other goes on when it is gone.
func TestOneOfTwoProcessesEvaluates(t *testing.T) {
	t.Parallel()
	w, m := beginMeter(t, notifyAnn)
	if !w.app.DB.Shared() {
		t.Skip("only for a database that processes share")
	}
	w.join()
	for i := range 8 {
		w.rule(fmt.Sprint("CPU ", i), strings.ReplaceAll(hot, `"cpu"`, fmt.Sprintf(`"cpu%d"`, i)))
	}
	w.pass(time.Minute)
	m.set(map[string]float64{"web1": 97})
	w.pass(time.Minute)
	if n := len(w.newPages()); n != 8 {
		t.Errorf("%d pages, want 8", n)
	}
	frozen := w.peer
	w.peer = nil
	t.Cleanup(func() { w.peer = frozen })
	w.pass(time.Minute)
	m.set(map[string]float64{"web1": 7})
	w.pass(time.Minute)
	if n := len(w.newPages()); n != 8 {
		t.Errorf("%d pages about ends, want 8", n)
	}
}

// A channel that is disabled ends what a rule has open there and nowhere else, and what still fires begins there again.
func TestDisabledChannelEndsAlertsOfRulesThere(t *testing.T) {
	t.Parallel()
	w, m := beginMeter(t, notifyAnn)
	other := w.do("/channel/create", `{"team_id": 0, "channel_name": "Other"}`).get("channel_id")
	id := w.do("/monit/rule/create", `{"name": "CPU hot", "ds_type": "prometheus", "ds_list": ["*"], "cron_pattern": "@every 15s", "channel_ids": [%d, %s], "rule_configs": %s}`, shop, other, hot).get("id")
	active := func(channel any) string {
		return w.do("/alert/list", `{"start_time": %d, "end_time": %d, "channel_ids": [%v], "is_active": true}`, w.clock.Now().Unix()-3600, w.clock.Now().Unix()+60, channel).get("total")
	}
	m.set(map[string]float64{"web1": 97})
	w.pass(45 * time.Second)
	if n := len(w.newPages()); n != 2 { // the owner is notified for the other channel
		t.Errorf("%d pages, want 2", n)
	}
	w.do("/channel/disable", `{"channel_id": %d}`, shop)
	w.pass(time.Minute)
	if here, there := active(shop), active(other); here != "0" || there != "1" {
		t.Errorf("%s alerts are active in the disabled channel, %s in the other", here, there)
	}
	w.one("[Resolved] CPU hot: ")
	w.want(w.do("/monit/rule/state", `{"id": %s}`, id), "instances.0.state", "firing")
	w.do("/channel/enable", `{"channel_id": %d}`, shop)
	w.one("[Critical] CPU hot: host=web1")
	w.pass(time.Minute)
	w.notified()
	m.set(map[string]float64{"web1": 7})
	w.pass(time.Minute)
	if n := len(w.newPages()); n != 2 {
		t.Errorf("%d pages about the end, want 2", n)
	}
	if here, there := active(shop), active(other); here != "0" || there != "0" {
		t.Errorf("%s and %s alerts are active at the end", here, there)
	}
	w.want(w.do("/monit/rule/history", `{"id": %s}`, id), "total", "2")
}

// Without another channel the rule goes on, and no one is notified until the channel is enabled.
func TestRuleGoesOnInDisabledChannel(t *testing.T) {
	t.Parallel()
	w, m := beginMeter(t, notifyAnn)
	id := w.rule("CPU hot", hot, `"repeat_interval": 60`)
	m.set(map[string]float64{"web1": 97, "web2": 97})
	w.pass(45 * time.Second)
	w.one("[Critical] CPU hot: ")
	w.do("/channel/disable", `{"channel_id": %d}`, shop)
	w.pass(5 * time.Minute)
	w.one("[Resolved] CPU hot: ")
	m.set(map[string]float64{"web1": 97, "web2": 7})
	w.pass(time.Minute)
	w.notified()
	w.do("/channel/enable", `{"channel_id": %d}`, shop)
	w.one("[Critical] CPU hot: host=web1")
	w.do("/channel/disable", `{"channel_id": %d}`, shop)
	w.do("/monit/rule/update/fields", `{"ids": [%s], "fields": ["enabled"], "enabled": false}`, id)
	w.pass(time.Minute)
	w.want(w.do("/monit/rule/state", `{"id": %s}`, id), "instances.0.state", "")
}
