package explain

import "tocsin/internal/core/sentence"

// asData adds to each sentence of the explanation its code and its arguments.
func (x *Explanation) asData() {
	x.SummaryData = sentence.DataOf(x.Summary)
	x.WordsData = make([]sentence.Data, len(x.Words))
	for i, text := range x.Words {
		x.WordsData[i] = sentence.DataOf(text)
	}
	for _, list := range [][]Outcome{x.Verdicts, x.Later} {
		for _, v := range list {
			for i := range v.Trace {
				v.Trace[i].WhyData = sentence.DataOf(v.Trace[i].Why)
			}
		}
	}
	for _, s := range x.Incidents {
		for i := range s.Notices {
			n := &s.Notices[i]
			n.ReasonData, n.OutcomeData = sentence.DataOf(n.Reason), sentence.DataOf(n.Outcome)
		}
	}
}
