package monitor

import "tocsin/internal/engine/evaluator"

// Empty returns how many known evaluations in a row of a rule on a datasource returned no row; 0: it is not known here.
func (r *Service) Empty(account int64, rule, datasource uint64) int {
	look, _ := r.evaluator.Look(evaluator.Key{Account: account, Rule: rule, Datasource: datasource})
	return look.Empty
}
