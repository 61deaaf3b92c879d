package console

import "slices"

// pages lists what can be shown, and actions what can be done. Each noun has both in the file of its name.
func pages() []page {
	return slices.Concat(signInPages, openIDPages, linkPages, securityPages, nowPages, untoldPages, lintPages,
		incidentPages, alertPages, schedulePages,
		channelPages, integrationPages, configurationPages, rumPages,
		deliveryPages, endpointPages, peoplePages, mePages, teamPages, rolePages, keyPages, auditPages, insightPages)
}

func actions() []action {
	return slices.Concat(signInActions, linkActions, securityActions, incidentActions, alertActions, scheduleActions,
		channelActions, integrationActions, configurationActions, rumActions,
		deliveryActions, endpointActions, peopleActions, meActions, pushActions, teamActions, roleActions, keyActions)
}
