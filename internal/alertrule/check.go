package alertrule

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"tocsin/internal/configstore"
	"tocsin/internal/core/evaluate"
)

// maxRule is the largest rule, in bytes as it is stored.
const maxRule = 256 << 10

// maxLabelName is the longest name of a label, in characters.
const maxLabelName = 128

// check checks what needs no other object.
func (r *Rule) check(at configstore.RecordPath) error {
	if err := at.Bounds(r); err != nil {
		return err
	}
	if err := configstore.FirstError(at.Length("name", r.Name, 1, 255), r.checkSchedule(at), r.checkSources(at), r.checkTexts(at),
		r.checkConfig(at)); err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err == nil && len(text) > maxRule {
		err = at.Invalid("", "must have at most %d bytes, got %d", maxRule, len(text))
	}
	return err
}

func (r *Rule) checkSchedule(at configstore.RecordPath) error {
	if _, err := evaluate.ParseSchedule(r.CronPattern); err != nil {
		return at.Invalid("cron_pattern", "%v", err)
	}
	if r.Timezone == "" {
		return nil
	}
	if _, err := time.LoadLocation(r.Timezone); err != nil || !ofPlace(r.Timezone) {
		return at.Invalid("timezone", "must be an IANA zone such as Europe/Berlin, got %.60q", r.Timezone)
	}
	return nil
}

// ofPlace reports whether a zone is that of a place, or UTC. Abbreviations such as EST are no place: clocks there change.
func ofPlace(zone string) bool { return zone == "UTC" || strings.Contains(zone, "/") }

func (r *Rule) checkSources(at configstore.RecordPath) error {
	if len(r.DSList) == 0 && len(r.DSIDs) == 0 {
		return at.Invalid("ds_list", "must name a datasource, or ds_ids must")
	}
	if i := slices.Index(r.DSList, ""); i >= 0 {
		return at.Element("ds_list", i).Invalid("", "must not be empty")
	}
	return nil
}

func (r *Rule) checkTexts(at configstore.RecordPath) error {
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		if n := utf8.RuneCountInString(name); n < 1 || n > maxLabelName {
			return at.Invalid("labels", "must have names of 1 to %d characters, got %.60q of %d", maxLabelName, name, n)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Annotations)) {
		if name == "" || strings.HasPrefix(name, "$") {
			return at.Invalid("annotations", "must have names that are not empty and do not begin with $, got %.60q", name)
		}
	}
	return nil
}

func (r *Rule) checkConfig(at configstore.RecordPath) error {
	return configstore.FirstError(refused(at, evaluate.CheckWindows(r.EnabledTimes)),
		refused(at.Member("rule_configs"), evaluate.Check(r.RuleConfigs)))
}

// refused returns the error of a check of evaluate with the path of the member.
func refused(at configstore.RecordPath, err error) error {
	if wrong := (*evaluate.FieldError)(nil); errors.As(err, &wrong) {
		return at.Invalid(wrong.Field, "%s", wrong.Says)
	}
	return err
}
