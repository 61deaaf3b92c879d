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
}
