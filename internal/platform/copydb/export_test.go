package copydb

// InSmallSteps makes copies store after each few rows how far they are, and call Progress for each row.
func InSmallSteps() {
	batchRows = 3
	batchesTogether = 2
	every = 1
}
