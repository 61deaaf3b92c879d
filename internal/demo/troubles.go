package demo

import "time"

// trouble is one failure: an incident, and an alert for every resource affected.
type trouble struct {
	title                   string
	channel                 int64
	through                 int // index in intakes
	severity                string
	service, check, cluster string
	resources               []string
	events                  int64
	began                   time.Duration // before now
	lasted                  time.Duration // 0: it goes on
	acknowledged            bool
	history                 []turn
}

// turn is a time in which a person was responsible, from the beginning of the trouble; without an end it continues.
type turn struct {
	person   int64
	from, to time.Duration
}

// intake is an integration that receives events.
type intake struct {
	id              int64
	name, kind, ref string
}

const (
	prometheusIntake int64 = accountID + 310_000 + iota*1000
	grafanaIntake
	rumIntake
	standardIntake
	deployments // receives changes, not alerts
)

var intakes = []intake{
	{prometheusIntake, "Prometheus Frankfurt", "prometheus", "vR3nKq8wTzGmYc5bHd2xLf"},
	{grafanaIntake, "Grafana", "grafana", "Jp7sXe4uNaWk9tCfBy3hQm"},
	{rumIntake, "RUM", "rum", "c6LdZg2vRxTn8qHwKs5jPa"},
	{standardIntake, "Warehouse control", "standard", "Ym4tBk9eUcFr7zXpGn3wHs"},
}

// troubles returns those of the last days, newest first. Persons no longer responsible for one are among its default
// observers.
func troubles() []trouble {
	const m = time.Minute
	return []trouble{
		{"Basket answers with 502", basket, 0, "Critical", "basket", "http_5xx", "fra-1",
			[]string{"basket-7d9f-a", "basket-7d9f-b", "basket-7d9f-c"}, 14, 25 * m, 0, false, []turn{{olena, 0, 6 * m}, {eleni, 6 * m, 0}}},
		{"Card payments are declined", payments, 0, "Critical", "payment-gateway", "decline_rate", "fra-1",
			[]string{"cardstream-eu", "cardstream-us"}, 31, 2 * hour, 0, true,
			[]turn{{zoe, 0, 20 * m}, {beatriz, 20 * m, 50 * m}, {eleni, 50 * m, 0}, {sato, 55 * m, 0}}},
		{"Scanners lose the network", warehouse, 3, "Warning", "scanner", "wifi_signal", "leipzig", []string{"hall-2", "hall-3"}, 9, 3 * hour, 0,
			true, []turn{{maya, 0, 10 * m}, {priya, 10 * m, 0}, {anna, 30 * m, 0}}},
		{"Replica is 15 minutes behind", databases, 0, "Warning", "orders-db", "replication_lag", "fra-1",
			[]string{"orders-db-replica-2", "orders-db-replica-3"}, 22, 5 * hour, 0, true, []turn{{anna, 0, 0}, {jonas, 40 * m, 0}}},
		{"Crash on the product page (iOS 5.2.0)", apps, 2, "Critical", "shop-ios", "crash_rate", "app-store", []string{"5.2.0"}, 480, 7 * hour, 0,
			true, []turn{{lina, 0, 0}}},
		{"Search is slower than 800 ms", searching, 0, "Warning", "search", "latency_p95", "fra-1", []string{"search-0", "search-1", "search-2"},
			17, 9 * hour, 0, false, []turn{{priya, 0, 0}}},
		{"Certificate of img ends in 6 days", network, 1, "Info", "cdn", "certificate_expiry", "edge", []string{"img." + domain}, 6, 20 * hour, 0,
			false, []turn{{siobhan, 0, 0}}},
		{"Logins from unknown networks", security, 1, "Critical", "sso", "login_anomaly", "eu", []string{"sso-1", "sso-2"}, 40, 26 * hour,
			3 * hour, true, []turn{{anna, 0, 30 * m}, {jonas, 5 * m, 170 * m}, {lukasz, 30 * m, 0}}},
		{"Invoice run has not finished", nightly, 1, "Warning", "invoices", "job_duration", "fra-2", []string{"invoices-nightly"}, 3, 28 * hour,
			95 * m, true, []turn{{minjun, 0, 15 * m}, {anna, 15 * m, 0}}},
		{"Labels are not printed", shipping, 3, "Critical", "label-printer", "queue_length", "leipzig", []string{"printer-4", "printer-5"}, 12,
			31 * hour, 42 * m, true, []turn{{maya, 0, 12 * m}, {lina, 12 * m, 0}}},
		{"Product pictures are missing", shopFront, 1, "Warning", "images", "http_404", "edge", []string{"img-fra", "img-ams"}, 51, 40 * hour,
			70 * m, true, []turn{{maya, 0, 0}, {sato, 5 * m, 30 * m}}},
		{"Refunds queue up", payments, 0, "Warning", "refunds", "queue_length", "fra-1", []string{"refunds"}, 8, 47 * hour, 3 * hour, true,
			[]turn{{sato, 0, 2 * hour}, {zoe, 2 * hour, 0}}},
		{"Replica is 40 minutes behind", databases, 0, "Warning", "orders-db", "replication_lag", "fra-1", []string{"orders-db-replica-1"}, 5,
			55 * hour, 4 * hour, true, []turn{{jonas, 0, hour}, {minjun, hour, 2 * hour}, {jonas, 2 * hour, 0}}},
		{"Prices differ between page and basket", shopFront, 3, "Critical", "pricing", "consistency", "fra-1",
			[]string{"pricing-de", "pricing-fr"}, 19, 62 * hour, 2 * hour, true,
			[]turn{{lina, 0, 25 * m}, {maya, 25 * m, 0}, {zoe, 30 * m, 80 * m}}},
		{"Suggestions are empty", searching, 0, "Info", "suggest", "result_count", "fra-1", []string{"suggest-0"}, 4, 70 * hour, 35 * m, true,
			[]turn{{priya, 0, 0}}},
		{"CDN answers slowly in Asia", network, 1, "Warning", "cdn", "latency_p95", "edge", []string{"edge-sin", "edge-nrt", "edge-icn"}, 33,
			78 * hour, 5 * hour, true, []turn{{minjun, 0, 4 * hour}, {siobhan, 90 * m, 0}}},
		{"Conveyor 1 stands still", warehouse, 3, "Critical", "conveyor", "heartbeat", "leipzig", []string{"conveyor-1"}, 7, 98 * hour, 28 * m,
			true, []turn{{priya, 0, 8 * m}, {lina, 8 * m, 0}}},
		{"Errors in checkout step 3", basket, 2, "Warning", "shop-web", "error_rate", "browser", []string{"2026.4.1", "2026.4.2"}, 130,
			112 * hour, 6 * hour, true, []turn{{eleni, 0, hour}, {olena, hour, 5 * hour}, {zoe, 5 * hour, 0}}},
		{"Carrier does not answer", shipping, 1, "Warning", "carrier-gateway", "http_timeouts", "fra-2", []string{"carrier-a", "carrier-b"}, 26,
			130 * hour, 100 * m, true, []turn{{sato, 0, 45 * m}, {priya, 45 * m, 0}}},
		{"Export to the warehouse failed", nightly, 1, "Info", "exports", "job_failed", "fra-2", []string{"exports-stock", "exports-prices"}, 1,
			150 * hour, 20 * m, true, []turn{{siobhan, 0, 0}}},
	}
}
