package channel

import (
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// This file has what the operations on rules of all kinds share. The operations of one kind, with their
// paths, are in the file of the kind, such as silence_rule.go.

// ruled is a pointer to a rule of any kind.
type ruled[T any] interface {
	*T
	rule() *Rule
	maxRules() int                      // rules of the kind that a channel may have
	conditions() ([]filter.Filter, int) // filters, and the number of time windows
}

// bodyOf is the body of a rule of kind T as a caller sends it. applyTo changes the members of the rule that
// were sent, checks the whole rule and returns what is probably not meant. It must not store anything.
type bodyOf[T any] interface {
	channel() int64
	applyTo(*api.Call, *T) (warnings []string, err error)
}

// updateOf is the request of an update: a body with the id of the rule that it changes.
type updateOf[T any] interface {
	bodyOf[T]
	id() string
}

// sealer seals the secrets of a rule before it is stored. stored is the rule as it was; nil: it is new.
type sealer[T any] func(c *api.Call, stored, sent *T) error

// RuleBody is what a caller sends of any rule. An update leaves the members that are absent as they are.
type RuleBody struct {
	ChannelID   int64   `json:"channel_id" minimum:"1" doc:"The channel it belongs to."`
	Priority    *int64  `json:"priority,omitzero" minimum:"0" maximum:"1000000" doc:"Lower is evaluated first; absent on creation: 0."`
	RuleName    string  `json:"rule_name" minLength:"1" maxLength:"39" doc:"1 to 39 characters."`
	Description *string `json:"description,omitzero" maxLength:"500" doc:"At most 500 characters."`
}

func (b RuleBody) channel() int64 { return b.ChannelID }

func (b RuleBody) applyTo(r *Rule) {
	configstore.SetIfSent(&r.Priority, b.Priority)
	configstore.SetIfSent(&r.Description, b.Description)
	r.RuleName = b.RuleName
}

// setList changes a list that was sent; an empty list too.
func setList[L ~[]E, E any](field *L, sent L) {
	if sent != nil {
		*field = sent
	}
}

// setWritten is setList for a filter in either shape.
func setWritten(field *filter.Written, sent filter.Written) {
	if !sent.IsZero() {
		*field = sent
	}
}

// RuleRequest names a rule.
type RuleRequest struct {
	ChannelID int64  `json:"channel_id" minimum:"1" doc:"The channel it belongs to."`
	RuleID    string `json:"rule_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The rule."`
}

// RuleDelete asks to delete a rule, or what that would do.
type RuleDelete struct {
	RuleRequest
	api.DryRun
}

// RuleKey names the rule to change. The requests of updates embed it beside the rule's body.
type RuleKey struct {
	RuleID string `json:"rule_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The rule to change."`
}

func (r RuleKey) id() string { return r.RuleID }

// RuleCreated is a rule that was created.
type RuleCreated struct {
	RuleID   string `json:"rule_id" doc:"The new rule."`
	RuleName string `json:"rule_name" doc:"Its name, as it was sent."`
	api.Warnings
}

// Texts that the descriptions of all rules share.
const (
	suspicious     = "What is accepted but probably not meant is named in warnings."
	partial        = "What is left out stays as it is. "
	exampleChannel = `{"channel_id": 1001}`
)

func createRule[T any, P ruled[T]](c *api.Call, kind configstore.Kind[T], in bodyOf[T], seal sealer[T]) (RuleCreated, error) {
	if err := Readable(c.Tx, c.Who, in.channel()); err != nil {
		return RuleCreated{}, err
	}
	v := P(new(T))
	*v.rule() = Rule{
		AccountID: c.Who.AccountID,
		ChannelID: in.channel(),
		RuleID:    id.Object(c.Now),
		Status:    "enabled",
		CreatedAt: c.Unix(),
	}
	warnings, err := storeRule(c, kind, in, seal, nil, v)
	return RuleCreated{v.rule().RuleID, v.rule().RuleName, api.Warn(warnings)}, err
}

func updateRule[T any, P ruled[T]](c *api.Call, kind configstore.Kind[T], in updateOf[T], seal sealer[T]) (api.Warnings, error) {
	v, err := findRule[T, P](c, kind, in.channel(), in.id())
	if err != nil {
		return api.Warnings{}, err
	}
	stored := *v
	warnings, err := storeRule(c, kind, in, seal, &stored, v)
	return api.Warn(warnings), err
}

// storeRule applies the request to v, checks it and stores it with its secrets sealed. A nil seal is for
// kinds without secrets.
func storeRule[T any, P ruled[T]](
	c *api.Call, kind configstore.Kind[T], in bodyOf[T], seal sealer[T], stored *T, v P,
) (warnings []string, err error) {
	warnings, err = in.applyTo(c, (*T)(v))
	if err != nil {
		return nil, err
	}
	if err := fits(c, kind, v); err != nil {
		return nil, err
	}
	if seal != nil {
		if err := seal(c, stored, (*T)(v)); err != nil {
			return nil, err
		}
	}
	return warnings, touchRule(c, kind, v)
}

// touchRule stores a rule with the time and the person of the change.
func touchRule[T any, P ruled[T]](c *api.Call, kind configstore.Kind[T], v P) error {
	base := v.rule()
	base.UpdatedAt, base.UpdatedBy = c.Unix(), c.Who.PersonID
	c.Touched(kind.Name, base.RuleID, base.RuleName)
	return kind.Put(c.Tx, c.Who.AccountID, (*T)(v))
}

// findRule reads a rule of a channel that the caller may see. A rule of another channel is not found, or a
// caller could reach the rules of private channels through an open one.
func findRule[T any, P ruled[T]](c *api.Call, kind configstore.Kind[T], channel int64, rule string) (P, error) {
	if err := Readable(c.Tx, c.Who, channel); err != nil {
		return nil, err
	}
	rule = strings.ToLower(rule)
	found, err := kind.Get(c.Tx, c.Who.AccountID, rule)
	if err != nil {
		return nil, err
	}
	v := P(&found)
	if v.rule().ChannelID != channel || v.rule().Status == "deleted" {
		return nil, fault.Missing(kind.Name, rule)
	}
	return v, nil
}

func setRuleStatus[T any, P ruled[T]](c *api.Call, kind configstore.Kind[T], in RuleRequest, status string) (api.Empty, error) {
	v, err := findRule[T, P](c, kind, in.ChannelID, in.RuleID)
	if err != nil {
		return api.Empty{}, err
	}
	v.rule().Status = status
	return api.Empty{}, touchRule(c, kind, v)
}

func deleteRule[T any, P ruled[T]](c *api.Call, kind configstore.Kind[T], in RuleDelete) (api.Removal, error) {
	v, err := findRule[T, P](c, kind, in.ChannelID, in.RuleID)
	if err != nil {
		return api.Removal{}, err
	}
	if err := configstore.RefuseReferenced(c.Tx, c.Who.AccountID, kind.Name, v.rule().RuleID); err != nil {
		return api.Removal{}, err
	}
	c.Removed(kind.Name, v.rule().RuleID, v.rule().RuleName)
	return api.Removal{}, kind.Delete(c.Tx, c.Who.AccountID, v.rule().RuleID)
}

// RulesRequest names the channel whose rules are listed.
type RulesRequest struct {
	ChannelID int64 `json:"channel_id" minimum:"1" doc:"The channel whose rules to list."`
	api.Page
}

// RulePage is the reply of a list of rules: all of them, as there are few, or a page when one was asked for.
type RulePage[T any] struct {
	Items       []T    `json:"items" doc:"The rules: all, or those of the page that was asked for."`
	Total       *int64 `json:"total,omitzero" doc:"With p or limit: how many there are on all pages together."`
	HasNextPage *bool  `json:"has_next_page,omitzero" doc:"With p or limit: whether there is a page after this one."`
}

// listRules lists a channel's rules that are not deleted, in the order of evaluation. view, unless nil,
// completes them for the caller. Without p and limit the reply has items only, for clients that are older
// than the pages.
func listRules[T any, P ruled[T]](
	c *api.Call, kind configstore.Kind[T], in RulesRequest, view func(*api.Call, []T) error,
) (page RulePage[T], err error) {
	if err := Readable(c.Tx, c.Who, in.ChannelID); err != nil {
		return page, err
	}
	page.Items, err = storedRules[T, P](c, kind, in.ChannelID)
	if err != nil {
		return page, err
	}
	if in.Page != (api.Page{}) {
		limit, offset := in.Window(20)
		total := int64(len(page.Items))
		page.Items = page.Items[min(offset, total):min(offset+limit, total)]
		page.Total, page.HasNextPage = &total, new(offset+limit < total)
	}
	if view != nil {
		page.Items = slices.Clone(page.Items) // the elements are shared with other calls
		err = view(c, page.Items)
	}
	return page, err
}

// storedRules returns a channel's rules that are not deleted, in the order of evaluation. They are cached and shared
// with other calls, except rules with secrets, which are opened in place.
func storedRules[T any, P ruled[T]](c *api.Call, kind configstore.Kind[T], channel int64) ([]T, error) {
	read := func() ([]T, bool, error) {
		all, err := kind.Of(c.Tx, c.Who.AccountID, strconv.FormatInt(channel, 10))
		rules := all[:0]
		for i := range all {
			if r := P(&all[i]).rule(); r.Status != "deleted" && r.DeletedAt == 0 {
				rules = append(rules, all[i])
			}
		}
		return rules, true, err
	}
	if kind.Secrets != nil {
		rules, _, err := read()
		return rules, err
	}
	rules, _, err := configstore.Kept(c.Tx, c.Who.AccountID, cachedRules{kind.Name, channel}, read)
	return rules, err
}
