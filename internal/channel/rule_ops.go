package channel

import (
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// ruleRoom is what the operations on one kind of rules differ in.
type ruleRoom[T any] struct {
	kind         configstore.Kind[T]
	path         string // such as /channel/silence/rule
	noun         string // in words
	read, manage []auth.Permission
	example      string // members of a rule besides its channel
	list         api.Func
	more         []api.Op                                 // operations that only this kind has
	seal         func(c *api.Call, stored, sent *T) error // of kinds with secrets: readies a rule for storing; stored is nil for a new one
}

// ruled is a pointer to a rule of any kind.
type ruled[T any] interface {
	*T
	rule() *Rule
	most() int                          // rules of the kind that a channel may have
	conditions() ([]filter.Filter, int) // filters, and the number of time windows
}

// ruleOf is the body of a rule of kind T as a caller sends it: onto puts what was sent into the rule, checks
// the whole and tells what is suspicious. It must not store anything.
type ruleOf[T any] interface {
	channel() int64
	onto(*api.Call, *T) (warnings []string, err error)
}

// RuleBody is what a caller says of any rule. What is left out of an update stays as it is.
type RuleBody struct {
	ChannelID   int64   `json:"channel_id" minimum:"1" doc:"The channel it belongs to."`
	Priority    *int64  `json:"priority,omitzero" minimum:"0" maximum:"1000000" doc:"Lower is evaluated first; absent on creation: 0."`
	RuleName    string  `json:"rule_name" minLength:"1" maxLength:"39" doc:"1 to 39 characters."`
	Description *string `json:"description,omitzero" maxLength:"500" doc:"At most 500 characters."`
}

func (b RuleBody) channel() int64 { return b.ChannelID }

func (b RuleBody) onto(r *Rule) {
	set(&r.Priority, b.Priority)
	set(&r.Description, b.Description)
	r.RuleName = b.RuleName
}

// set changes a field that was sent.
func set[T any](field *T, sent *T) {
	if sent != nil {
		*field = *sent
	}
}

// setList changes a list that was sent; an empty one too.
func setList[L ~[]E, E any](field *L, sent L) {
	if sent != nil {
		*field = sent
	}
}

// RuleRequest names a rule.
type RuleRequest struct {
	ChannelID int64  `json:"channel_id" minimum:"1" doc:"The channel it belongs to."`
	RuleID    string `json:"rule_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The rule."`
}

type ruleDelete struct {
	RuleRequest
	api.DryRun
}

// RuleKey names the rule to change; it is embedded in the requests of updates beside the rule's body.
type RuleKey struct {
	RuleID string `json:"rule_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The rule to change."`
}

func (r RuleKey) id() string { return r.RuleID }

// updateOf is the request of an update: a body of the same kind with the rule that it is for.
type updateOf[T any] interface {
	ruleOf[T]
	id() string
}

type ruleCreated struct {
	RuleID   string `json:"rule_id" doc:"The new rule."`
	RuleName string `json:"rule_name" doc:"Its name, as it was sent."`
	api.Warnings
}

// ruleOps are the operations on one kind of rules.
func ruleOps[B ruleOf[T], U updateOf[T], T any, P ruled[T]](r ruleRoom[T]) []api.Op {
	noun := func(verb string) string { return r.kind.Name + ":write:" + verb }
	named := `{"channel_id": 1001, "rule_id": "69db2f72a0fe7db6448b1506"}`
	write := func(path, verb, doc, notes, example string, do api.Func) api.Op {
		return api.Op{Path: r.path + "/" + path, Allow: r.manage, Effect: api.Write, Audit: noun(verb), Danger: verb == "delete", Doc: doc, Notes: notes, Example: example, Do: do}
	}
	return append([]api.Op{
		{Path: r.path + "/list", Allow: r.read, Effect: api.Snapshot, Doc: "The " + r.noun + "s of a channel in the order in which they are evaluated.", Example: `{"channel_id": 1001}`, Do: r.list},
		write("create", "create", "Creates a "+r.noun+", enabled.", suspicious, `{"channel_id": 1001, `+r.example+`}`, api.Do(createRule[B, T, P](r))),
		write("update", "update", "Changes a "+r.noun+".", "What is left out stays as it is. "+suspicious, `{"channel_id": 1001, "rule_id": "69db2f72a0fe7db6448b1506", `+r.example+`}`, api.Do(updateRule[U, T, P](r))),
		write("enable", "enable", "Puts a "+r.noun+" in use.", "", named, api.Do(switchRule[T, P](r, "enabled"))),
		write("disable", "disable", "Takes a "+r.noun+" out of use without deleting it.", "", named, api.Do(switchRule[T, P](r, "disabled"))),
		write("delete", "delete", "Deletes a "+r.noun+".", "", named, api.Do(deleteRule[T, P](r))),
	}, r.more...)
}

const suspicious = "What is accepted but probably not meant is named in warnings."

func createRule[B ruleOf[T], T any, P ruled[T]](r ruleRoom[T]) func(*api.Call, B) (ruleCreated, error) {
	return func(c *api.Call, in B) (ruleCreated, error) {
		if err := Readable(c.Tx, c.Who, in.channel()); err != nil {
			return ruleCreated{}, err
		}
		v := P(new(T))
		*v.rule() = Rule{AccountID: c.Who.AccountID, ChannelID: in.channel(), RuleID: id.Object(c.Now), Status: "enabled", CreatedAt: c.Unix()}
		warnings, err := storeRule(c, r, in, nil, v)
		return ruleCreated{v.rule().RuleID, v.rule().RuleName, api.Warn(warnings)}, err
	}
}

func updateRule[U updateOf[T], T any, P ruled[T]](r ruleRoom[T]) func(*api.Call, U) (api.Warnings, error) {
	return func(c *api.Call, in U) (api.Warnings, error) {
		v, err := findRule[T, P](c, r, in.channel(), in.id())
		if err != nil {
			return api.Warnings{}, err
		}
		stored := *v
		warnings, err := storeRule(c, r, in, &stored, v)
		return api.Warn(warnings), err
	}
}

func storeRule[B ruleOf[T], T any, P ruled[T]](c *api.Call, r ruleRoom[T], in B, stored *T, v P) (warnings []string, err error) {
	if warnings, err = in.onto(c, (*T)(v)); err != nil {
		return nil, err
	}
	if err := fits(c, r.kind, v); err != nil {
		return nil, err
	}
	if r.seal != nil {
		if err := r.seal(c, stored, (*T)(v)); err != nil {
			return nil, err
		}
	}
	return warnings, touchRule(c, r, v)
}

// touchRule stamps and stores a rule.
func touchRule[T any, P ruled[T]](c *api.Call, r ruleRoom[T], v P) error {
	base := v.rule()
	base.UpdatedAt, base.UpdatedBy = c.Unix(), c.Who.PersonID
	c.Touched(r.kind.Name, base.RuleID, base.RuleName)
	return r.kind.Put(c.Tx, c.Who.AccountID, (*T)(v))
}

// findRule reads a rule of a channel that the caller may see; one of another channel is not there.
func findRule[T any, P ruled[T]](c *api.Call, r ruleRoom[T], channel int64, rule string) (P, error) {
	if err := Readable(c.Tx, c.Who, channel); err != nil {
		return nil, err
	}
	rule = strings.ToLower(rule)
	found, err := r.kind.Get(c.Tx, c.Who.AccountID, rule)
	if err != nil {
		return nil, err
	}
	v := P(&found)
	if v.rule().ChannelID != channel || v.rule().Status == "deleted" {
		return nil, fault.Missing(r.kind.Name, rule)
	}
	return v, nil
}

func switchRule[T any, P ruled[T]](r ruleRoom[T], status string) func(*api.Call, RuleRequest) (api.Empty, error) {
	return func(c *api.Call, in RuleRequest) (api.Empty, error) {
		v, err := findRule[T, P](c, r, in.ChannelID, in.RuleID)
		if err != nil {
			return api.Empty{}, err
		}
		v.rule().Status = status
		return api.Empty{}, touchRule(c, r, v)
	}
}

func deleteRule[T any, P ruled[T]](r ruleRoom[T]) func(*api.Call, ruleDelete) (api.Removal, error) {
	return func(c *api.Call, in ruleDelete) (api.Removal, error) {
		v, err := findRule[T, P](c, r, in.ChannelID, in.RuleID)
		if err != nil {
			return api.Removal{}, err
		}
		c.Removed(r.kind.Name, v.rule().RuleID, v.rule().RuleName)
		return api.Removal{}, r.kind.Delete(c.Tx, c.Who.AccountID, v.rule().RuleID)
	}
}

// rulePage is the reply of a list of rules: all of them, as there are few, or a page when one was asked for.
type rulePage[T any] struct {
	Items       []T    `json:"items" doc:"The rules: all, or those of the page that was asked for."`
	Total       *int64 `json:"total,omitzero" doc:"With p or limit: how many there are on all pages together."`
	HasNextPage *bool  `json:"has_next_page,omitzero" doc:"With p or limit: whether there is a page after this one."`
}

// ruleList lists a channel's rules that are not deleted, in the order of evaluation; show finishes them for
// the caller. Without p and limit the reply is what it was before there were pages: items and nothing else.
func ruleList[T any, P ruled[T]](kind configstore.Kind[T], show func(*api.Call, []T) error) api.Func {
	return api.Do(func(c *api.Call, in channelRequest) (rulePage[T], error) {
		if err := Readable(c.Tx, c.Who, in.ChannelID); err != nil {
			return rulePage[T]{}, err
		}
		rules, err := listed[T, P](c, kind, in.ChannelID)
		if err != nil {
			return rulePage[T]{}, err
		}
		page := rulePage[T]{Items: rules}
		if in.Page != (api.Page{}) {
			limit, offset := in.Window(20)
			total := int64(len(page.Items))
			page.Items = page.Items[min(offset, total):min(offset+limit, total)]
			page.Total, page.HasNextPage = &total, new(offset+limit < total)
		}
		if show != nil {
			page.Items = slices.Clone(page.Items) // they are shared
			err = show(c, page.Items)
		}
		return page, err
	})
}

// listed are a channel's rules that are not deleted. They are shared with other calls, unless they hold secrets, which
// are opened in place.
func listed[T any, P ruled[T]](c *api.Call, kind configstore.Kind[T], channel int64) ([]T, error) {
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
	rules, _, err := configstore.Kept(c.Tx, c.Who.AccountID, keptRules{kind.Name, channel}, read)
	return rules, err
}

// channelRequest names the channel whose rules are asked for.
type channelRequest struct {
	ChannelID int64 `json:"channel_id" minimum:"1" doc:"The channel whose rules to list."`
	api.Page
}
