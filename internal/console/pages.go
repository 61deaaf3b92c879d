package console

import "slices"

// pages lists what can be shown, and actions what can be done. Each noun has both in the file of its name.
func pages() []page {
	return slices.Concat(signInPages, openIDPages, linkPages, securityPages, nowPages, untoldPages, lintPages,
		incidentPages, alertPages, silencePages, schedulePages,
		channelPages, watchRulePages, integrationPages, configurationPages, rumPages, ruleFormPages, edgePages,
		deliveryPages, endpointPages, healthPages, peoplePages, mePages, teamPages, rolePages, keyPages, auditPages, insightPages)
}

func actions() []action {
	return slices.Concat(signInActions, linkActions, securityActions, incidentActions, alertActions, silenceActions, scheduleActions,
		channelActions, watchRuleActions, integrationActions, configurationActions, rumActions, ruleFormActions, edgeActions,
		deliveryActions, endpointActions, peopleActions, meActions, pushActions, teamActions, roleActions, keyActions)
}

// Addresses returns the addresses of all pages that show something, as patterns of http.ServeMux: tests look at every one.
func Addresses() (all []string) {
	for _, p := range pages() {
		if p.template != "" {
			all = append(all, p.path)
		}
	}
	return all
}
