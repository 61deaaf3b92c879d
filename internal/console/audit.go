package console

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/person"
)

var auditPages = []page{
	{path: "/audit", template: "audit", tab: "people", show: showAudit},
	{path: "/audit/{id}", template: "audit_entry", tab: "people", show: showAuditEntry},
}

// auditEntry is a call that changed something, or was refused.
type auditEntry struct {
	Created   int64  `json:"created_at"` // Unix milliseconds
	Person    int64  `json:"member_id"`
	Name      string `json:"member_name"`
	Request   string `json:"request_id"`
	IP        string `json:"ip"`
	Operation string `json:"operation"`
	Words     string `json:"operation_name"`
	Body      string `json:"body"`
	Params    []struct {
		Key, Value string
	} `json:"params"`
	Dangerous bool `json:"is_dangerous"`
	Resources []struct {
		Kind string `json:"kind"`
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"resources"`
}

// At returns when the call was made, in Unix seconds.
func (e auditEntry) At() int64 { return e.Created / 1000 }

// Path returns the address of the entry's page.
func (e auditEntry) Path() string {
	return "/audit/" + url.PathEscape(e.Request) + "?at=" + strconv.FormatInt(e.At(), 10)
}

// Refused returns the code with which the call was refused; empty: it was not.
func (e auditEntry) Refused() string {
	for _, p := range e.Params {
		if p.Key == "error" {
			return p.Value
		}
	}
	return ""
}

type auditFound struct {
	Total int64        `json:"total"`
	After string       `json:"search_after_ctx"`
	Docs  []auditEntry `json:"docs"`
}

// auditDays is the longest window of the audit log.
const auditDays = 90

type auditView struct {
	titled
	Found      auditFound
	People     []person.Member
	Operations []auditOperation
	Next       string
}

func showAudit(v *visit) (view, error) {
	d := auditView{titled: titled(v.T("Audit"))}
	var err error
	d.Operations, err = v.auditOperations()
	if err != nil {
		return nil, err
	}
	end, err := strconv.ParseInt(v.query("end"), 10, 64) // stays the same from page to page
	if err != nil {
		end = v.Now.Unix() + 1
	}
	request := map[string]any{"start_time": end - auditDays*86400, "end_time": end, "limit": 50}
	if person, err := strconv.ParseInt(v.query("person"), 10, 64); err == nil && person > 0 {
		request["person_id"] = person
	}
	if operation := v.query("operation"); operation != "" {
		request["operations"] = []string{operation}
	}
	if v.query("danger") != "" {
		request["is_dangerous"] = true
	}
	if after := v.query("after"); after != "" {
		request["search_after_ctx"] = after
	}
	if err := v.call("/audit/search", request, &d.Found); err != nil {
		return nil, err
	}
	v.nameInChinese(d.Found.Docs, d.Operations)
	if d.Found.After != "" {
		next := v.r.URL.Query()
		next.Set("after", d.Found.After)
		next.Set("end", strconv.FormatInt(end, 10))
		d.Next = "/audit?" + next.Encode()
	}
	d.People, err = v.accounts("")
	return d, err
}

// auditOperation is what the audit log records, with its name in words.
type auditOperation struct {
	Name    string `json:"name"`
	Chinese string `json:"name_cn"`
}

func (v *visit) auditOperations() ([]auditOperation, error) {
	var reply struct {
		Items []auditOperation `json:"items"`
	}
	err := v.call("/audit/operation/list", struct{}{}, &reply)
	return reply.Items, err
}

// nameInChinese names entries in Chinese to who reads it: the log names them in the language of the account's owner.
func (v *visit) nameInChinese(entries []auditEntry, operations []auditOperation) {
	if v.Lang != "zh" {
		return
	}
	for i := range entries {
		for _, o := range operations {
			if o.Name == entries[i].Operation {
				entries[i].Words = o.Chinese
			}
		}
	}
}

// difference is a member of a request and what was last sent for it before.
type difference struct {
	Member, Before, After string
	Known                 bool // Before was found
}

// Changed reports whether the value is another than before.
func (d difference) Changed() bool { return !d.Known || d.Before != d.After }

type auditEntryView struct {
	titled
	Entry       auditEntry
	Differences []difference
	Body        string // of a request that is no JSON object
}

func showAuditEntry(v *visit) (view, error) {
	at, _ := strconv.ParseInt(v.query("at"), 10, 64)
	var found auditFound
	request := map[string]any{"start_time": max(at, 0), "end_time": max(at, 0) + 1, "request_id": v.r.PathValue("id")}
	if err := v.call("/audit/search", request, &found); err != nil {
		return nil, err
	}
	if len(found.Docs) == 0 {
		return nil, &api.Refusal{Status: http.StatusNotFound, Code: "ResourceNotFound", Message: v.T("There is no such entry in the audit log.")}
	}
	operations, err := v.auditOperations()
	if err != nil {
		return nil, err
	}
	v.nameInChinese(found.Docs, operations)
	d := auditEntryView{Entry: found.Docs[0], Body: indented(found.Docs[0].Body)}
	d.titled = titled(d.Entry.Words)
	var earlier auditFound
	if len(d.Entry.Resources) > 0 {
		of := d.Entry.Resources[0]
		request = map[string]any{
			"start_time": at - (auditDays-1)*86400, "end_time": at + 1, "limit": 99, "resource_kind": of.Kind, "resource_id": of.ID,
		}
		if err := v.call("/audit/search", request, &earlier); err != nil {
			return nil, err
		}
	}
	d.Differences = differences(d.Entry, earlier.Docs)
	return d, nil
}

// differences compares what a call sent with what earlier calls about the same object, the newest first, sent last for
// the same members.
func differences(e auditEntry, earlier []auditEntry) (all []difference) {
	now := membersOf(e.Body)
	before := map[string]string{}
	for _, past := range earlier {
		if past.Created > e.Created || past.Request == e.Request || past.Refused() != "" {
			continue
		}
		for member, value := range membersOf(past.Body) {
			if _, newer := before[member]; !newer {
				before[member] = value
			}
		}
	}
	for _, member := range slices.Sorted(maps.Keys(now)) {
		value, known := before[member]
		all = append(all, difference{member, value, now[member], known})
	}
	return all
}

// membersOf returns the members of a JSON object by their paths; none for any other text.
func membersOf(body string) map[string]string {
	var object map[string]any
	all := map[string]string{}
	if json.Unmarshal([]byte(body), &object) == nil {
		flatten("", object, all)
	}
	return all
}

func flatten(prefix string, object map[string]any, all map[string]string) {
	for name, value := range object {
		if inner, ok := value.(map[string]any); ok && len(inner) > 0 && strings.Count(prefix, ".") < 4 {
			flatten(prefix+name+".", inner, all)
			continue
		}
		if text, ok := value.(string); ok {
			all[prefix+name] = text
			continue
		}
		text, _ := json.Marshal(value)
		all[prefix+name] = string(text)
	}
}
