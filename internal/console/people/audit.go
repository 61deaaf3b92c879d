package people

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/audit"
	"tocsin/internal/console/page"
	"tocsin/internal/person"
)

var auditPages = []page.Page{
	{Path: "/audit", Template: "audit", Tab: "people", Show: showAudit},
	{Path: "/audit/{id}", Template: "audit_entry", Tab: "people", Show: showAuditEntry},
}

// auditEntry is a call that changed something, or was refused.
type auditEntry struct{ audit.Entry }

// At returns when the call was made, in Unix seconds.
func (e auditEntry) At() int64 { return e.CreatedAt / 1000 }

// Path returns the address of the entry's page.
func (e auditEntry) Path() string {
	return "/audit/" + url.PathEscape(e.RequestID) + "?at=" + strconv.FormatInt(e.At(), 10)
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
	Total int64
	Docs  []auditEntry
	After string // the cursor of the next page
}

// audited searches the audit log.
func audited(v *page.Visit, request audit.SearchRequest) (auditFound, error) {
	reply, err := page.Call[audit.SearchReply](v, "/audit/search", request)
	found := auditFound{Total: reply.Total, After: reply.SearchAfterCtx}
	for _, e := range reply.Docs {
		found.Docs = append(found.Docs, auditEntry{e})
	}
	return found, err
}

// auditDays is the longest window of the audit log.
const auditDays = 90

type auditView struct {
	page.Titled
	Found      auditFound
	People     []person.Member
	Operations []audit.Operation
	Next       string
}

func showAudit(v *page.Visit) (page.View, error) {
	d := auditView{Titled: page.Titled(v.T("Audit"))}
	var err error
	d.Operations, err = auditOperations(v)
	if err != nil {
		return nil, err
	}
	end, err := strconv.ParseInt(v.Query("end"), 10, 64) // stays the same from page to page
	if err != nil {
		end = v.Now.Unix() + 1
	}
	request := audit.SearchRequest{
		StartTime: end - auditDays*86400, EndTime: end, Limit: 50, IsDangerous: v.Query("danger") != "", SearchAfterCtx: v.Query("after"),
	}
	if person, err := strconv.ParseUint(v.Query("person"), 10, 63); err == nil {
		request.PersonID = person
	}
	if operation := v.Query("operation"); operation != "" {
		request.Operations = []string{operation}
	}
	d.Found, err = audited(v, request)
	if err != nil {
		return nil, err
	}
	nameEntries(v, d.Found.Docs, d.Operations)
	if d.Found.After != "" {
		next := v.Request.URL.Query()
		next.Set("after", d.Found.After)
		next.Set("end", strconv.FormatInt(end, 10))
		d.Next = "/audit?" + next.Encode()
	}
	d.People, err = v.Accounts("")
	return d, err
}

// auditOperations returns what the audit log records, with the names in words.
func auditOperations(v *page.Visit) ([]audit.Operation, error) {
	reply, err := page.Call[api.Items[audit.Operation]](v, "/audit/operation/list", api.Empty{})
	return reply.Items, err
}

// operationName names an operation in the visitor's language: what it is about, and what it does there.
func operationName(v *page.Visit, o audit.Operation) string {
	if v.Lang == "zh" {
		return o.NameCN
	}
	name := strings.NewReplacer(":write:", ": ", ":read:", ": ", "_", " ", "-", " ").Replace(o.Name)
	return strings.ToUpper(name[:1]) + name[1:]
}

// nameEntries names entries in the language of the visitor: the log names them in that of the account's owner.
func nameEntries(v *page.Visit, entries []auditEntry, operations []audit.Operation) {
	for i := range entries {
		for _, o := range operations {
			if o.Name == entries[i].Operation {
				entries[i].OperationName = operationName(v, o)
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
	page.Titled
	Entry       auditEntry
	Differences []difference
	Body        string // of a request that is no JSON object
}

func showAuditEntry(v *page.Visit) (page.View, error) {
	at, _ := strconv.ParseInt(v.Query("at"), 10, 64)
	found, err := audited(v, audit.SearchRequest{StartTime: max(at, 0), EndTime: max(at, 0) + 1, RequestID: v.Request.PathValue("id")})
	if err != nil {
		return nil, err
	}
	if len(found.Docs) == 0 {
		return nil, &api.Refusal{Status: http.StatusNotFound, Code: "ResourceNotFound", Message: v.T("There is no such entry in the audit log.")}
	}
	operations, err := auditOperations(v)
	if err != nil {
		return nil, err
	}
	nameEntries(v, found.Docs, operations)
	d := auditEntryView{Entry: found.Docs[0], Body: page.Indented(found.Docs[0].Body)}
	d.Titled = page.Titled(d.Entry.OperationName)
	var earlier auditFound
	if len(d.Entry.Resources) > 0 {
		of := d.Entry.Resources[0]
		earlier, err = audited(v, audit.SearchRequest{
			StartTime: at - (auditDays-1)*86400, EndTime: at + 1, Limit: 99, ResourceKind: of.Kind, ResourceID: of.ID,
		})
		if err != nil {
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
		if past.CreatedAt > e.CreatedAt || past.RequestID == e.RequestID || past.Refused() != "" {
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
