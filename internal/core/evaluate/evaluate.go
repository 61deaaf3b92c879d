// Package evaluate is the state machine of a watch: one alert rule on one datasource. Each evaluation has the answers of the
// rule's queries, and may begin, change or end instances, with the reason.
//
// It must never end an instance without a complete answer, and never read a clock.
package evaluate
