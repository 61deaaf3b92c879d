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
	Partial     bool    // more alerts exist than are counted, because events are still to be decided
	Alerts      []Alert // the first ten
	Responders  []Person
	Link        string // to the incident; empty when the server does not know its public address
	AckLink     string // acknowledges it, for this reader alone; empty when it needs no acknowledgement
	Reason      string // why the reader is notified, in words
	InChat      bool   // a chat reads the message, not a person
	Reopened    bool   // the incident was closed before, and opened again
	Note        string // that an alert changes too often, and when the next message comes; empty: no alert does
	Question    string // a question to the reader, such as "You have this since 02:14, still open"; empty: none
	AnswerLink  string // answers Question, for this reader alone; empty without a question, or if the server has no public address
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

	Merged     string // the source and target of a merge, and the person who merged; empty: the message is about no merge
	MergedFrom string // the incidents merged into this incident, in a message about that merge
	MergedInto string // the id of the incident that this incident was merged into; empty: not merged

	DetailUrl       string // shows the incident to this reader, and acknowledges it; empty as Link, or when the reader may not
	Now             int64  // when the message is written, Unix seconds
	LastTime        int64  // when its latest alert joined
	EndTime         int64  // when the last of its alerts ended; 0: one is active, or it has none
	SnoozedBefore   int64  // 0: it is not snoozed
	Creator         *Actor // nil: Tocsin itself
	Closer          *Actor // nil: it is open, or Tocsin itself closed it
	Owner           *Actor // who leads; nil: no one
	AssignedTo      Assignment
	ActiveAlertCnt  int64
	AlertEventCnt   int64          // events of all its alerts
	Fields          map[string]any // custom fields by name
	Images          []Image
	ChannelID       int64 // 0: none
	AccountTimeZone string
	FireTimes       int64 // how often this was sent, with this message
	IsFlapping      bool  // one of its alerts changes too often
	IsInStorm       bool  // it has reached a storm threshold
	Flapping        Flapping
	GroupMethod     string // n: no alert joins it automatically; p: by rule
	Impact          string
	RootCause       string
	Resolution      string

	LabelValues map[string]LabelValues // by the labels of its alerts
}

// Alert is one alert of an incident.
type Alert struct {
	Title       string
	Description string
	Severity    string
	Status      string
	StartTime   int64
	LastTime    int64
	EndTime     int64 // 0: it is active
	Labels      map[string]string
}

// Person is a responder of an incident.
type Person struct {
	Name, Email    string
	ID             int64
	AssignedAt     int64
	AcknowledgedAt int64 // 0: not acknowledged
}

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
			Description: "p99 is 2.3 s", StartTime: 1776009600, LastTime: 1776009900,
			Labels: map[string]string{"service": "checkout", "resource": "pod/checkout-7d9f", "trigger_value": "2.3"},
		},
		{
			Title: "Queue of orders grows", Severity: "Warning", Status: "Warning",
			Description: "510 orders wait", StartTime: 1776009660, LastTime: 1776009720, EndTime: 1776009720,
			Labels: map[string]string{"service": "orders", "resource": "queue/orders", "trigger_value": "510"},
		},
	},
	Responders: []Person{{Name: "Ada", Email: "ada@example.com", ID: 4, AssignedAt: 1776009600}},
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
	Notified:  []string{"Ben (email)"},
	Next:      "team Payments at 16:10 if no one acknowledges",
	DetailUrl: "https://tocsin.example.com/ack/sample",
	Now:       1776009900, LastTime: 1776009660, Creator: &Actor{Person{Name: "Ben", Email: "ben@example.com", ID: 5}},
	Owner:          &Actor{Person{Name: "Ada", Email: "ada@example.com", ID: 4}},
	AssignedTo:     Assignment{EscalateRuleID: "69db2f72a0fe7db6448b1507", EscalateRuleName: "Production", Type: "assign"},
	ActiveAlertCnt: 1, AlertEventCnt: 7, Fields: map[string]any{"customer": "Example Ltd."},
	Images:    []Image{{Src: "https://grafana.example.com/render/1.png", Href: "https://grafana.example.com/d/1", Alt: "latency"}},
	ChannelID: 7, AccountTimeZone: "UTC", FireTimes: 1,
	Flapping: Flapping{MaxChanges: 4, InMinutes: 60, MuteMinutes: 15}, GroupMethod: "p", Impact: "Payments fail",
	LabelValues: map[string]LabelValues{
		"service":       {All: []string{"checkout", "orders"}},
		"resource":      {All: []string{"pod/checkout-7d9f", "queue/orders"}},
		"trigger_value": {All: []string{"2.3", "510"}, Min: "2.3", Max: "510"},
	},
}
