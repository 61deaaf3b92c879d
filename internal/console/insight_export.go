package console

// exportInsight answers with the table of the figures as a file; for the whole account, with its incidents.
func (v *visit) exportInsight() error {
	q, err := v.insightQuery()
	if err != nil {
		return err
	}
	path := "/insight/" + q.by + "/export"
	if q.by == "account" {
		path = "/insight/incident/export"
	}
	return v.Frame.AskFile(v.ctx, v.w, v.inside(), path, q.window(0))
}
