package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func pushTo(source int) string {
	return "/event/push/alert/standard?integration_key=" + hostileSource + strconv.Itoa(source)
}

func hostileEvent(key, description string) string {
	return fmt.Sprintf(`{"title_rule": "Flood of %s", "event_status": "Critical", "alert_key": %q, "description": %q, "labels": {"host": %q, "service": "a%s"}}`,
		key, key, description, key, strings.Repeat("abc", 60))
}

func (a *attacker) flood() error {
	a.run(assault{32, 0, func(client, n int) []byte {
		return request(pushTo(0), hostileEvent(fmt.Sprintf("single-%d-%d-%d", os.Getpid(), client, n), "x"))
	}})
	a.run(assault{16, 0, func(int, int) []byte { return request(pushTo(0), hostileEvent("same", "x")) }})
	a.run(assault{4, 0, func(client, n int) []byte {
		batch := make([]string, 10_000)
		for i := range batch {
			batch[i] = hostileEvent(fmt.Sprintf("batch-%d-%d-%d-%d", os.Getpid(), client, n, i), "x")
		}
		return request(pushTo(2), "["+strings.Join(batch, ",")+"]")
	}})
	return nil
}

func (a *attacker) filters() error {
	text := strings.Repeat("xyab", 500)
	a.run(assault{4, 20 * time.Millisecond, func(client, n int) []byte {
		return request(pushTo(1), hostileEvent(fmt.Sprintf("filter-%d-%d-%d", os.Getpid(), client, n), text))
	}})
	slow := `[[{"key": "description", "oper": "IN", "vals": ["/(x|y){300}z/"]}]]`
	a.calls(8,
		fmt.Sprintf(`/alert/filter/try {"channel_ids": [%d], "filters": %s, "days": 7}`, hostileID+11, slow),
		fmt.Sprintf(`/alert/rule/hits {"channel_id": %d, "days": 7}`, hostileID+11),
		fmt.Sprintf(`/channel/rules/try {"channel_id": %d, "alert": {"title": "tried", "alert_severity": "Critical", "description": %q}}`, hostileID+11, text),
	)
	return nil
}

// hostileRules is how many rules an account may have that are evaluated every second.
const hostileRules = 1000

var ruleID = regexp.MustCompile(`"id":(\d+)`)

// rules lets the account's rules be evaluated as often as they may, until the attack ends. What they find changes with each second.
func (a *attacker) rules() error {
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		row := ""
		if a.count("queries"); time.Now().Unix()%2 == 0 {
			row = `{"metric":{"host":"a"},"value":[1,"97"]}`
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, row)
	}))
	made := func(path, body string, id *regexp.Regexp) (string, error) {
		reply, err := ask(a.address, hostileKey, path, body)
		found := id.FindStringSubmatch(reply)
		if err == nil && found == nil {
			err = fmt.Errorf("%s: %.500s", path, reply)
		}
		if err != nil {
			return "", err
		}
		return found[1], nil
	}
	name := fmt.Sprint("own-", os.Getpid())
	datasource := fmt.Sprintf(`{"type_ident": "prometheus", "name": %q, "address": %q, "edge_cluster_name": "default", "payload": {"prometheus": {}}}`,
		name, source.URL)
	if _, err := made("/monit/datasource/create", datasource, ruleID); err != nil {
		return err
	}
	folder, err := made("/monit/folder/create", fmt.Sprintf(`{"parent_id": 1, "folder_name": %q}`, name), regexp.MustCompile(`"folder_id":(\d+)`))
	if err != nil {
		return err
	}
	all := make([]string, hostileRules)
	for n := range all {
		all[n] = fmt.Sprintf(`{"folder_id": %s, "name": "Rule %d", "ds_type": "prometheus", "ds_list": [%q], "cron_pattern": "@every 1s", "enabled": true, "channel_ids": [%d],
			"rule_configs": {"queries": [{"name": "A", "expr": "load > %[2]d"}], "check_anydata": {"enabled": true, "severity": "Critical"}}}`, folder, n, name, hostileID+10)
	}
	if reply, err := ask(a.address, hostileKey, "/monit/rule/import", "["+strings.Join(all, ",")+"]"); err != nil || strings.Count(reply, `"message":""`) < hostileRules {
		return errors.Join(fmt.Errorf("/monit/rule/import: %.500s", reply), err)
	}
	a.all.Go(func() {
		<-a.stop
		defer source.Close()
		list, err := ask(a.address, hostileKey, "/monit/rule/list/basic", fmt.Sprintf(`{"folder_id": %s}`, folder))
		var ids []string
		for _, found := range ruleID.FindAllStringSubmatch(list, -1) {
			ids = append(ids, found[1])
		}
		reply, failed := ask(a.address, hostileKey, "/monit/rule/delete/batch", fmt.Sprintf(`{"ids": [%s]}`, strings.Join(ids, ",")))
		err = errors.Join(err, failed)
		if err != nil || strings.Contains(reply, `"error"`) {
			fmt.Fprintf(os.Stderr, "/monit/rule/delete/batch: %.500s %v\n", reply, err)
		}
	})
	return nil
}

// calls sends calls of operations, each from so many connections. Refused ones are repeated at once.
func (a *attacker) calls(connections int, calls ...string) {
	for _, c := range calls {
		path, body, _ := strings.Cut(c, " ")
		text := hostileCall(path, body)
		a.run(assault{connections, 0, func(int, int) []byte { return text }})
	}
}

func (a *attacker) pages() error {
	now := time.Now().Unix()
	month, year := fmt.Sprintf(`"start_time": %d, "end_time": %d`, now-30*86400, now+60), fmt.Sprintf(`"start_time": %d, "end_time": %d`, now-365*86400, now+60)
	millis := fmt.Sprintf(`"start_time": %d000, "end_time": %d000`, now-30*86400, now+60)
	a.calls(4,
		`/incident/list {"limit": 100, "p": 100, `+month+`}`,
		`/incident/list {"limit": 100, "query": "is in no title at all", `+month+`}`,
		`/alert/list {"limit": 100, "title": "/(x|y){300}z/", `+month+`}`,
		`/alert/list {"limit": 100, "p": 100, "orderby": "updated_at", `+month+`}`,
		`/audit/search {"limit": 99, "request_id": "none", `+month+`}`,
		`/webhook/history/list {"limit": 100, `+millis+`}`,
		`/insight/account {`+year+`}`,
		`/insight/incident/export {`+year+`}`,
		`/insight/alert/topk-by-label {"label": "host", "k": 100, `+month+`}`,
		`/schedule/list {"limit": 100}`,
		`/channel/list {"limit": 100, "query": "none"}`,
		`/incident/untold/list {"limit": 100}`,
		`/lint/list {}`,
	)
	reply, err := ask(a.address, hostileKey, "/incident/list", `{"limit": 1, "channel_ids": [`+strconv.Itoa(hostileID+12)+`], `+month+`}`)
	if err != nil {
		a.count("no list of incidents") // beside its other attacks the account's own call may find no seat
		return nil
	}
	if found := incidentID.FindStringSubmatch(reply); found != nil {
		a.calls(4, fmt.Sprintf(`/incident/explain {"incident_id": %q}`, found[1]), fmt.Sprintf(`/incident/past/list {"incident_id": %q, "limit": 100}`, found[1]),
			fmt.Sprintf(`/incident/alert/list {"incident_id": %q, "limit": 100}`, found[1]))
	}
	return nil
}

// hostileSchedule is a schedule with many layers whose turns last an hour.
func hostileSchedule(name string) string {
	layers := make([]string, hostileLayers)
	for i := range layers {
		layers[i] = fmt.Sprintf(`{"layer_name": "Layer %d", "layer_start": %d, "rotation_unit": "hour", "rotation_value": 1, "groups": [`+
			`{"group_name": "A", "members": [{"role_id": 0, "person_ids": [%d]}]}, {"group_name": "B", "members": [{"role_id": 0, "person_ids": [%d]}]}]}`,
			i, time.Now().Unix()-365*86400+int64(i)*60, hostileID+1, hostileID+1)
	}
	return fmt.Sprintf(`{"schedule_name": %q, "layers": [%s]}`, name, strings.Join(layers, ","))
}

func (a *attacker) configuration() error {
	now := time.Now().Unix()
	reply, err := ask(a.address, hostileKey, "/schedule/create", hostileSchedule(fmt.Sprint("Large ", os.Getpid())))
	if err != nil {
		return err
	}
	made := scheduleID.FindStringSubmatch(reply)
	if made == nil {
		return fmt.Errorf("a schedule: %.500s", reply)
	}
	window := fmt.Sprintf(`"start": %d, "end": %d`, now, now+45*86400)
	a.calls(4,
		fmt.Sprintf(`/schedule/info {"schedule_id": %s, %s}`, made[1], window),
		fmt.Sprintf(`/schedule/list {"limit": 100, %s}`, window),
		fmt.Sprintf(`/schedule/stats {"schedule_ids": [%s], "start": %d, "end": %d}`, made[1], now-180*86400, now+180*86400),
		fmt.Sprintf(`/schedule/gap/list {%s}`, window),
		fmt.Sprintf(`/schedule/preview {%s, %s`, window, strings.TrimPrefix(hostileSchedule("Preview"), `{"schedule_name": "Preview", `)),
		`/template/preview {"type": "sms", "content": "{{range .Alerts}}{{range .Labels}}{{.}}{{end}}{{end}}"}`,
	)
	for path, body := range map[string]string{
		"/schedule/create": hostileSchedule("NAME"),
		"/channel/create":  `{"channel_name": "NAME"}`,
		"/team/upsert":     `{"team_name": "NAME"}`,
		"/field/create":    `{"field_name": "NAME", "display_name": "NAME", "field_type": "text", "value_type": "string"}`,
		"/template/create": `{"template_name": "NAME", "sms": "` + strings.Repeat("{{.Title}}", 100) + `"}`,
	} {
		a.run(assault{8, 0, func(client, n int) []byte {
			return hostileCall(path, strings.ReplaceAll(body, "NAME", fmt.Sprintf("n%d_%d_%d", os.Getpid()%10000, client, n)))
		}})
	}
	return nil
}

// connections holds connections that cost the server something and send as little as possible.
func (a *attacker) connections() error {
	body := strings.Repeat(" ", 1<<20)
	starts := []string{
		"POST /incident/list?app_key=" + hostileKey + " HTTP/1.1\r\nHost: local",
		"POST /incident/list?app_key=" + hostileKey + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{",
		"POST " + pushTo(0) + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n\r\n[",
		strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n", 50),
		"POST /team/upsert?app_key=" + hostileKey + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048576\r\n\r\n" + body[:1<<19],
	}
	for i := range 1000 {
		a.all.Go(func() {
			for !a.over(0) {
				conn, err := net.Dial("tcp", a.address)
				if err != nil {
					a.count("no connection")
					a.over(time.Second)
					continue
				}
				_, err = io.WriteString(conn, starts[i%len(starts)])
				if err == nil {
					a.count("connection held")
				}
				for !a.over(time.Second) {
					if _, err := conn.Write([]byte("x")); err != nil {
						break
					}
				}
				conn.Close()
			}
		})
	}
	return nil
}

func (a *attacker) target() error {
	a.run(assault{4, 20 * time.Millisecond, func(client, n int) []byte {
		return request(pushTo(0), hostileEvent(fmt.Sprintf("target-%d-%d-%d", os.Getpid(), client, n), "x"))
	}})
	return nil
}

func (a *attacker) keys() error {
	a.run(assault{16, 0, func(client, n int) []byte {
		return request(fmt.Sprintf("/incident/list?app_key=tk_%032d%06d", client, n), `{}`)
	}})
	a.run(assault{16, 0, func(client, n int) []byte {
		return request(fmt.Sprintf("/event/push/alert/standard?integration_key=%026d%06d", client, n), `{}`)
	}})
	a.run(assault{16, 0, func(client, n int) []byte {
		form := fmt.Sprintf("email=olga%d@example.com&password=guess-%d-%d", n%goodAccounts, client, n)
		return fmt.Appendf(nil, "POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", len(form), form)
	}})
	return nil
}

var clientToken = regexp.MustCompile(`"client_token":"([^"]+)"`)

func (a *attacker) uploads() error {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	mappings := strings.Repeat("AAAA,IAAM,GAAG,KAAK,", 700_000)
	for _, part := range [][2]string{
		{"event", `{"type": "js_sourcemap", "service": "shop", "version": "1", "minified_url": "https://shop.example/a.js"}`},
		{"source_map", `{"version": 3, "sources": ["a.js"], "names": [], "mappings": "` + mappings + `AAAA"}`},
	} {
		f, err := w.CreateFormFile(part[0], "x")
		if err != nil {
			return err
		}
		io.WriteString(f, part[1])
	}
	w.Close()
	upload := fmt.Appendf(nil, "POST /sourcemap/upload HTTP/1.1\r\nHost: localhost\r\nDD-API-KEY: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		hostileKey, w.FormDataContentType(), form.Len(), form.Bytes())
	a.run(assault{2, 0, func(int, int) []byte { return upload }})
	reply, err := ask(a.address, hostileKey, "/rum/application/create", fmt.Sprintf(`{"application_name": "App %d", "type": "browser"}`, os.Getpid()))
	if err != nil {
		return err
	}
	if token := clientToken.FindStringSubmatch(reply); token != nil {
		a.run(assault{8, 0, func(client, n int) []byte {
			var lines strings.Builder
			for i := range 200 {
				fmt.Fprintf(&lines, `{"type": "error", "date": %d, "application": {"id": "x"}, "error": {"message": "%d-%d-%d is broken", "type": "TypeError", "stack": "TypeError: x\n  at f (https://shop.example/a.js:1:%d)", "source": "source"}}`+"\n",
					time.Now().UnixMilli(), client, n, i, i)
			}
			return request("/api/v2/rum?dd-api-key="+token[1], lines.String())
		}})
	}
	big := `{"team_name": "x", "padding": "` + strings.Repeat("x", 1<<20-100) + `"}`
	a.calls(4, "/team/upsert "+big, "/channel/create "+big)
	return nil
}
