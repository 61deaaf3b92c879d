package audit

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/person"
	"tocsin/internal/platform/cursor"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// maxWindow is the longest window of a search, in seconds: 90 days.
const maxWindow = 90 * 24 * 60 * 60

// SearchRequest selects calls.
type SearchRequest struct {
	StartTime      int64    `json:"start_time" minimum:"0" maximum:"9999999999" doc:"Start of the window in Unix seconds, inclusive."`
	EndTime        int64    `json:"end_time" minimum:"0" maximum:"9999999999" doc:"End of the window in Unix seconds, exclusive; after start_time, at most 90 days."`
	Limit          int      `json:"limit,omitempty" minimum:"0" maximum:"99" doc:"Entries to a page; 0: 20."`
	SearchAfterCtx string   `json:"search_after_ctx,omitempty" maxLength:"4096" doc:"The cursor from the reply with the page before; all members but limit must be unchanged."`
	RequestID      string   `json:"request_id,omitempty" maxLength:"128" doc:"Only the call of this request_id."`
	Operations     []string `json:"operations,omitempty" maxItems:"1000" maxLength:"255" doc:"Only these operations, by the names of /audit/operation/list; none: all."`
	PersonID       uint64   `json:"person_id,omitempty" doc:"Only calls of this person; 0: of all."`
	IsDangerous    bool     `json:"is_dangerous,omitempty" doc:"Only operations that delete or reveal; else all."`
	IsWrite        *bool    `json:"is_write,omitempty" doc:"true: only writes; false: only reads, of which there are none; absent: all."`
	ResourceKind   string   `json:"resource_kind,omitempty" maxLength:"64" doc:"Only writes that changed one object: its kind, such as schedule; required together with resource_id."`
	ResourceID     string   `json:"resource_id,omitempty" maxLength:"128" doc:"That object's identifier as text, such as \"5789640530410\"; required together with resource_kind."`
}

// Check rejects a window that is empty or too long, an empty operation, and half of a resource.
func (in SearchRequest) Check() error {
	switch span := in.EndTime - in.StartTime; {
	case span <= 0:
		return fault.Invalid("end_time", "must be greater than start_time %d, got %d", in.StartTime, in.EndTime)
	case span > maxWindow:
		return fault.Invalid("end_time", "must be at most 90 days (%d seconds) after start_time, got %d seconds", maxWindow, span)
	}
	if i := slices.Index(in.Operations, ""); i >= 0 {
		return fault.Invalid(fmt.Sprintf("operations[%d]", i), "must not be empty")
	}
	switch {
	case in.ResourceKind != "" && in.ResourceID == "":
		return fault.Invalid("resource_id", "is required together with resource_kind")
	case in.ResourceKind == "" && in.ResourceID != "":
		return fault.Invalid("resource_kind", "is required together with resource_id")
	}
	return nil
}

// SearchReply is a page of calls, the newest first.
type SearchReply struct {
	Total          int64   `json:"total" doc:"How many entries the filter matches in the window, on all pages."`
	SearchAfterCtx string  `json:"search_after_ctx" doc:"The cursor of the next page; empty when there is none."`
	Docs           []Entry `json:"docs" doc:"The entries of this page."`
}

// search is POST /audit/search. The total and the page are read in one snapshot, so that they agree.
func (r *Service) search(c *api.Call, in SearchRequest) (reply SearchReply, err error) {
	slices.Sort(in.Operations)
	f := filter{
		account: c.Who.AccountID, requestID: in.RequestID, operations: slices.Compact(in.Operations), person: int64(in.PersonID),
		dangerous: in.IsDangerous, write: in.IsWrite,
		resource: fault.Ref{Kind: in.ResourceKind, ID: in.ResourceID}, from: in.StartTime * 1000, to: in.EndTime * 1000,
	}
	limit := in.Limit
	binding := f.binding()
	start := position{CreatedAt: f.to}
	if limit == 0 {
		limit = 20
	}
	if in.SearchAfterCtx != "" {
		var ok bool
		start, ok = cursor.Decode[position](r.cursorKey, binding, in.SearchAfterCtx)
		if !ok {
			return reply, fault.Invalid("search_after_ctx", "must be from a reply to the same request with the same window and filters")
		}
	}
	reply.Total, err = f.total(c.Tx)
	if err != nil {
		return reply, err
	}
	reply.Docs, err = f.page(c.Tx, start, limit+1)
	if err != nil {
		return reply, err
	}
	if len(reply.Docs) > limit {
		reply.Docs = reply.Docs[:limit]
		reply.SearchAfterCtx = cursor.Encode(r.cursorKey, binding, reply.Docs[limit-1].position())
	}
	hidden, err := r.hidden(c.Tx, c.Who)
	if err != nil {
		return reply, err
	}
	private, err := r.private(c.Tx, c.Who)
	if err != nil {
		return reply, err
	}
	chinese, err := readsChinese(c.Tx, c.Who.AccountID)
	if err != nil {
		return reply, err
	}
	for i := range reply.Docs {
		reply.Docs[i].OperationName = label(reply.Docs[i].Operation, chinese)
		if err := reply.Docs[i].shownTo(c.Tx, hidden, private); err != nil {
			return reply, err
		}
	}
	return reply, nil
}

// readsChinese reports whether an account's owner has a Chinese locale; the account has no language of its own.
func readsChinese(tx *db.Tx, account int64) (bool, error) {
	owner, err := auth.OwnerOf(tx, account)
	if err != nil {
		return false, err
	}
	p, _, err := person.Find(tx, account, owner)
	return strings.HasPrefix(strings.ToLower(p.Locale), "zh"), err
}
