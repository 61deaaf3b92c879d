package explain

import "tocsin/internal/core/sentence"

// asData adds to each sentence of the explanation its code and its arguments. Verdicts repeat each other, so each
// sentence is read once.
func (x *Explanation) asData() {
	read := map[string]sentence.Data{}
	data := func(text string) sentence.Data {
		d, known := read[text]
		if !known {
			d = sentence.DataOf(text)
			read[text] = d
		}
		return d
	}
	x.SummaryData = data(x.Summary)
	x.WordsData = make([]sentence.Data, len(x.Words))
	for i, text := range x.Words {
		x.WordsData[i] = data(text)
	}
	for _, list := range [][]Outcome{x.Verdicts, x.Later} {
		for i := range list {
			list[i].show()
		}
	}
}
