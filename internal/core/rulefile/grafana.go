package rulefile

import (
	"errors"
	"fmt"
	"strconv"

	"tocsin/internal/core/evaluate"
)

// grafanaData is a query or an expression of a rule of Grafana.
type grafanaData struct {
	RefID         string `yaml:"refId"`
	DatasourceUID string `yaml:"datasourceUid"`
	Model         struct {
		Expr       string `yaml:"expr"`
		Instant    bool   `yaml:"instant"`
		Type       string `yaml:"type"`
		Expression string `yaml:"expression"`
		Reducer    string `yaml:"reducer"`
		Datasource struct {
			Type string `yaml:"type"`
		} `yaml:"datasource"`
		Conditions []struct {
			Evaluator comparison  `yaml:"evaluator"`
			Unload    *comparison `yaml:"unloadEvaluator"`
		} `yaml:"conditions"`
	} `yaml:"model"`
}

// comparison is a threshold of Grafana.
type comparison struct {
	Type   string    `yaml:"type"`
	Params []float64 `yaml:"params"`
}

// compared maps thresholds of Grafana to expressions of the first and the second number.
var compared = map[string]string{
	"gt": "$A > %[1]s", "lt": "$A < %[1]s", "gte": "$A >= %[1]s", "lte": "$A <= %[1]s", "eq": "$A == %[1]s", "ne": "$A != %[1]s",
	"within_range": "$A > %[1]s and $A < %[2]s", "outside_range": "$A < %[1]s or $A > %[2]s",
	"within_range_included": "$A >= %[1]s and $A <= %[2]s", "outside_range_included": "$A <= %[1]s or $A >= %[2]s",
}

// expression returns the comparison as an expression; empty: there is none.
func (c *comparison) expression() string {
	format := compared[c.Type]
	numbers := [2]string{}
	needed := 1
	if len(c.Type) > 5 { // the ranges
		needed = 2
	}
	if format == "" || len(c.Params) < needed {
		return ""
	}
	for i := range needed {
		numbers[i] = strconv.FormatFloat(c.Params[i], 'f', -1, 64)
	}
	return fmt.Sprintf(format, numbers[0], numbers[1])
}

// grafana reads a rule of one query, of which the last value is compared with a number.
func (r *reader) grafana(_ *group, e *entry, rule *Rule, item *Item) error {
	asked, compares, err := e.parts(item)
	if err != nil {
		return err
	}
	conditions := compares.Model.Conditions
	if len(conditions) != 1 || conditions[0].Evaluator.expression() == "" {
		return errors.New("its threshold is not one comparison with a number")
	}
	counts, err := rule.counts()
	if err != nil {
		return err
	}
	check := &evaluate.Threshold{Counts: counts, Recovery: evaluate.Recovery{Mode: "invert"}}
	if unload := conditions[0].Unload; unload != nil {
		check.Recovery = evaluate.Recovery{Mode: "threshold", Condition: unload.expression()}
		if check.Recovery.Condition == "" {
			return errors.New("its recovery threshold is not one comparison with a number")
		}
	}
	expr := rule.label(e.Labels, asked.Model.Expr, item)
	rule.Config = evaluate.Config{Queries: []evaluate.Query{{Name: "A", Expr: expr}}, CheckThreshold: check}
	rule.describe(e.Annotations, item)
	severity := r.level(e.Labels, item)
	text := conditions[0].Evaluator.expression()
	switch severity {
	case "Critical":
		check.Critical = text
	case "Info":
		check.Info = text
	default:
		check.Warning = text
	}
	switch e.NoDataState {
	case "", "NoData", "Alerting":
		rule.Config.CheckNodata = &evaluate.Nodata{Counts: counts, Severity: severity}
		item.say("without data each series that was seen before alerts")
	case "KeepLast":
		check.Missing = "keep"
	}
	if !r.said {
		r.said = true
		item.say("execErrState is not carried: a query that fails makes a rule unknown, which is an alert of its own; " +
			"this holds for all rules of the file")
	}
	return nil
}

// parts returns the query of a rule and its threshold.
func (e *entry) parts(item *Item) (asked, compares *grafanaData, err error) {
	byRef := map[string]*grafanaData{}
	for i := range e.Data {
		byRef[e.Data[i].RefID] = &e.Data[i]
	}
	compares = byRef[e.Condition]
	if compares == nil || compares.Model.Type != "threshold" {
		return nil, nil, errors.New("its condition is no threshold")
	}
	asked = byRef[compares.Model.Expression]
	parts := 2
	if asked != nil && asked.Model.Type == "reduce" {
		if asked.Model.Reducer != "last" {
			return nil, nil, fmt.Errorf("it reduces by %.30q; only last has an equal here", asked.Model.Reducer)
		}
		parts = 3
		asked = byRef[asked.Model.Expression]
	}
	switch {
	case asked == nil || asked.Model.Expr == "" || asked.DatasourceUID == "__expr__" || asked.DatasourceUID == "-100":
		return nil, nil, errors.New("its threshold is not about the last value of one query")
	case len(e.Data) != parts:
		return nil, nil, fmt.Errorf("it has %d queries and expressions; only one query with reduce and threshold has an equal here", len(e.Data))
	case parts == 2 && !asked.Model.Instant:
		return nil, nil, errors.New("its threshold is about a range, without reduce")
	case asked.Model.Datasource.Type != "" && asked.Model.Datasource.Type != "prometheus" && asked.Model.Datasource.Type != "loki":
		return nil, nil, fmt.Errorf("its query is for a datasource of type %.60q", asked.Model.Datasource.Type)
	case !asked.Model.Instant:
		item.say("the last value of a range is the value at the moment")
	}
	return asked, compares, nil
}
