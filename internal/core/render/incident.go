package render

// Incident is the data of a template. Its fields, in this spelling, are the names that templates use.
type Incident struct {
	IncidentID  string
	Title       string
	Description string
	Severity    string // Critical, Warning, Info or Ok
	Progress    string // Triggered, Processing or Closed
	Account     string // the account's name
	Channel     string // the channel's name
	TimeZone    string // the reader's; an IANA name
	StartTime   int64  // Unix seconds, as all times here
	AckTime     int64  // 0: not acknowledged
	CloseTime   int64  // 0: open
	Event       string // what happened, such as i_new or i_rslv
	Labels      map[string]string
	AlertCount  int64
	Alerts      []Alert // the first ten
	Responders  []Person
	Link        string // to the incident; empty when the server does not know its public address
	AckLink     string // acknowledges it, for this reader alone; empty when it needs no acknowledgement
	Reason      string // why the reader is notified, in words
	Test        bool   // a drill: there is no problem

	Headline string            // what is wrong: the summary of its alerts, or the title
	Where    string            // such as "web1, +49 hosts"; empty: the headline names it
	Shared   map[string]string // the labels that all alerts share, without those that Links and Headline show
	Differ   []Difference      // the other labels
	Links    []Link            // to the source's graph, the runbook and so on
	Notified []string          // who else was notified, with the methods
	Next     string            // who is notified next, and when; empty: no one is planned
	AckedBy  string            // who acknowledged it; empty: no one
	EndedBy  string            // by whom or by what it ended; empty: it is open
	Duration int64             // seconds from its beginning to its end; 0: it is open
}

// Alert is one alert of an incident.
type Alert struct {
	Title     string
	Severity  string
	Status    string
	StartTime int64
	Labels    map[string]string
}

// Person is a responder of an incident.
type Person struct{ Name, Email string }

// Sample is a made-up incident, for previews of templates.
var Sample = Incident{
	IncidentID: "69db2f72a0fe7db6448b1506", Title: "Checkout answers slowly",
	Description: "p99 of POST /checkout is above 2 s for 5 minutes",
	Severity:    "Critical", Progress: "Triggered", Account: "Acme", Channel: "Payments", TimeZone: "UTC",
	StartTime: 1776009600, Event: "i_new", AlertCount: 2,
	Labels: map[string]string{"service": "checkout", "cluster": "eu-1", "resource": "pod/checkout-7d9f"},
	Alerts: []Alert{
		{
			Title: "Checkout answers slowly", Severity: "Critical", Status: "Critical",
			StartTime: 1776009600, Labels: map[string]string{"service": "checkout"},
		},
		{
			Title: "Queue of orders grows", Severity: "Warning", Status: "Warning",
			StartTime: 1776009660, Labels: map[string]string{"service": "orders"},
		},
	},
	Responders: []Person{{Name: "Ada", Email: "ada@example.com"}},
	Link:       "https://tocsin.example.com/incidents/69db2f72a0fe7db6448b1506",
	AckLink:    "https://tocsin.example.com/ack/sample",
	Reason:     "on call in Production, layer Weekdays",
	Headline:   "Checkout answers slowly", Where: "checkout-7d9f, +1 pod",
	Shared: map[string]string{"service": "checkout", "cluster": "eu-1"},
	Differ: []Difference{{Name: "pod", Count: 2, Values: []string{"checkout-7d9f", "checkout-8a1c"}}},
	Links: []Link{
		{"runbook", "https://wiki.example.com/runbooks/checkout"},
		{"graph", "https://prometheus.example.com/graph?g0.expr=latency"},
	},
	Notified: []string{"Ben (email)"},
	Next:     "team Payments at 16:10 if no one acknowledges",
}
