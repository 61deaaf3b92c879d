package demo

// The persons of account.json. Identifiers in this file are those that history, calls and alerts name.
const (
	anna int64 = accountID + 50_000 + iota*1000
	jonas
	zoe
	lukasz
	siobhan
	eleni
	olena
	lina
	sato
	minjun
	priya
	beatriz
	maya
	layla
)

const (
	platform int64 = accountID + 100_000 + iota*1000
	checkout
	storefront
)

const (
	payments int64 = 1001 + iota
	basket
	shopFront
	searching
	warehouse
	shipping
	databases
	network
	apps
	security
	nightly
	legacy
)

const (
	platformOnCall int64 = accountID + 200_000 + iota*1000
	checkoutClock
	storefrontStack
	warehouseHandover
	managers
	fairTurns
	followTheSun
	nobodyYet
)

const (
	officeDays       = "cal.BergfinkOfficeDays0001"
	shopPage   int64 = accountID + 230_000
)
