package api

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"tocsin/internal/platform/fault"
)

// Errors are the failures of an operation that not every operation has, each with its condition in one sentence, which
// replaces that of a failure which the operation has by its permissions or its request. An empty one removes that failure.
type Errors map[fault.Kind]string

// Referenced are the failures of deleting an object to which others refer.
var Referenced = Errors{fault.ReferenceExist: "Others still refer to it; data.refs lists them."}

// Private is the failure of an operation that any key may call, on an object that is not for every person.
var Private = Errors{fault.AccessDenied: "The object is private, and the person of the key is not in its team."}

// NeverMissing is of an operation whose required identifier names no object that must exist.
var NeverMissing = Errors{fault.NotFound: ""}

// Missing returns the failure of an operation that reads an object which an optional member names.
func Missing(object string) Errors {
	return Errors{fault.NotFound: "The account has no such " + object + "."}
}

// And returns the failures of both.
func (e Errors) And(other Errors) Errors {
	both := maps.Clone(e)
	maps.Copy(both, other)
	return both
}

// everyFailure are the failures that every operation has.
var everyFailure = Errors{
	fault.InvalidParameter:   "A field is missing, malformed or beyond its bound, or names what does not exist; the message names the field.",
	fault.BadRequest:         "The request does not fit the present state; the message has the reason.",
	fault.InvalidContentType: "The body is not sent as application/json.",
	fault.Unauthorized:       "The app key is missing or not valid.",
	fault.TooLarge:           "The body is larger than the operation takes.",
	fault.TooFrequent:        "The account has called the operation too often, or the address has sent too many unknown keys.",
	fault.Internal:           "The server has a fault, and has logged it under the request id.",
	fault.Unavailable:        "The server is busy or stopping, or what it needs does not answer. Try again.",
}

// failureRow is a failure in the reference: of all operations with the beginning of its message, of one with its condition.
type failureRow struct {
	Code, Meaning string
	Status        int
}

// own returns the failures that this operation has and not every operation, with their conditions.
func (op *mounted) own() Errors {
	own := Errors{}
	if len(op.Allow)+len(op.Narrowed) > 0 {
		own[fault.AccessDenied] = "The key lacks the permission, or its person may not use an object that the request names."
	}
	if ids := op.identifiers(); len(ids) > 0 {
		own[fault.NotFound] = "The account has no object with this " + strings.Join(ids, " or ") + "."
	}
	if op.check.hasField("if_revision") {
		own[fault.Outdated] = "if_revision is not the present revision, which data has."
	}
	maps.Copy(own, op.Errors)
	maps.DeleteFunc(own, func(_ fault.Kind, condition string) bool { return condition == "" })
	return own
}

// identifiers returns the required members of a request that name an object, which must exist. A read of several objects
// leaves missing ones out.
func (op *mounted) identifiers() (names []string) {
	for _, m := range op.check.fields {
		one, several := m.name == "id" || strings.HasSuffix(m.name, "_id"), strings.HasSuffix(m.name, "_ids")
		if m.required && (one || several && op.Effect == Write) {
			names = append(names, m.name)
		}
	}
	return names
}

// Declares reports whether the document lists a code among the failures of the operation at a path. A path without an
// operation, and a method that it does not take, are no failures of an operation.
func (f *Frame) Declares(path, code string) bool {
	op := f.ops[path]
	if op == nil || code == wire[fault.MethodNotAllowed].code {
		return true
	}
	f.prepare(op)
	return slices.ContainsFunc(append(rows(everyFailure), rows(op.own())...), func(r failureRow) bool { return r.Code == code })
}

// rows returns failures with their conditions, ordered by status and code.
func rows(of Errors) (list []failureRow) {
	for kind, condition := range of {
		list = append(list, failureRow{wire[kind].code, condition, wire[kind].status})
	}
	return ordered(list)
}

func ordered(list []failureRow) []failureRow {
	slices.SortFunc(list, func(a, b failureRow) int {
		return strings.Compare(fmt.Sprint(a.Status, a.Code), fmt.Sprint(b.Status, b.Code))
	})
	return list
}

// failureRows returns the errors that clients may receive, each code once.
func failureRows() (list []failureRow) {
	for _, w := range wire {
		row := failureRow{w.code, w.english, w.status}
		if !slices.ContainsFunc(list, func(r failureRow) bool { return r.Code == w.code }) {
			list = append(list, row)
		}
	}
	return ordered(list)
}

// responses returns the responses of an operation besides its success. Responses that all operations share are components.
func (op *mounted) responses() map[string]*huma.Response {
	list := map[string]*huma.Response{"default": {Ref: responsePrefix + otherFailure}}
	for status := range commonResponses() {
		list[status] = &huma.Response{Ref: responsePrefix + responseName(status)}
	}
	for status, rows := range byStatus(op.own()) {
		if list[status] != nil {
			rows = append(byStatus(everyFailure)[status], rows...)
		}
		list[status] = failureResponse(rows)
	}
	return list
}

const (
	responsePrefix = "#/components/responses/"
	otherFailure   = "Failure"
)

// sharedResponses returns the responses that operations refer to.
func sharedResponses() map[string]*huma.Response {
	other := failureResponse(nil)
	other.Description = "Any other failure. A proxy before the server may answer in its own form."
	list := map[string]*huma.Response{otherFailure: other}
	for status, response := range commonResponses() {
		list[responseName(status)] = response
	}
	return list
}

func commonResponses() map[string]*huma.Response {
	list := map[string]*huma.Response{}
	for status, rows := range byStatus(everyFailure) {
		list[status] = failureResponse(rows)
	}
	return list
}

// responseName returns the name of the response that every operation has with a status, such as TooManyRequests.
func responseName(status string) string {
	code, _ := strconv.Atoi(status)
	return strings.ReplaceAll(http.StatusText(code), " ", "")
}

func byStatus(of Errors) map[string][]failureRow {
	list := map[string][]failureRow{}
	for _, row := range rows(of) {
		status := strconv.Itoa(row.Status)
		list[status] = append(list[status], row)
	}
	return list
}

// failureResponse describes the failures with one status by their codes and conditions.
func failureResponse(rows []failureRow) *huma.Response {
	response := &huma.Response{
		Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: schemaPrefix + "ErrorResponse"}}},
	}
	lines := []string{}
	for _, row := range rows {
		lines = append(lines, row.Code+": "+row.Meaning)
		if row.Status == http.StatusTooManyRequests || row.Status == http.StatusServiceUnavailable {
			response.Headers = map[string]*huma.Param{"Retry-After": {
				Description: "Seconds after which to try again.", Schema: &huma.Schema{Type: huma.TypeInteger},
			}}
		}
	}
	response.Description = strings.Join(lines, "\n\n")
	return response
}
