package copydb

// InSmallSteps makes copies store after each few rows how far they are, and call Progress for each row.
func InSmallSteps() { batchRows, batchesTogether, every = 3, 2, 1 }
