// Package health has the request and the reply of /account/health/info, which shows how the server is. The program answers it, and
// the console shows the reply. It must never compute what it holds.
package health

// Request asks how the server is.
type Request struct{}

// Info is the reply of /account/health/info.
type Info struct {
	Status     string `json:"status" enum:"ok,failing,held" doc:"failing: work is overdue for more than a minute, so people are not notified in time; held: the server sends nothing until it is released."`
	Problem    string `json:"problem" doc:"What fails or why it is held, in words; also a clock that is far off, a key file that cannot be used, or a disk that will be full within a day, while all is well. Empty: nothing."`
	KeyFile    string `json:"key_file" enum:",missing,exposed,malformed,other_keys,unreadable" doc:"Why the file of the sealing keys cannot be used: the server goes on with the keys in memory, but does not start again without the file. Empty: it is in order, or the keys were given as text."`
	Version    string `json:"version" doc:"Of the program."`
	Now        int64  `json:"now" doc:"What the server's clock shows, Unix milliseconds."`
	Store      Store  `json:"store" doc:"Where data is stored."`
	Work       []Work `json:"work" doc:"What is due, by kind."`
	Failed     int64  `json:"notices_failed_last_hour" doc:"Messages that failed for good."`
	Nodes      []Node `json:"nodes" doc:"The processes that serve this database now: this one alone, or all that share a PostgreSQL database."`
	LastSentAt int64  `json:"last_sent_at" doc:"When the account's last message to a person was sent, Unix milliseconds; 0: none was in 90 days."`
}

// Store is where data is stored.
type Store struct {
	Kind      string `json:"kind" doc:"sqlite or postgres."`
	Bytes     int64  `json:"bytes" doc:"Size of the database."`
	LogBytes  int64  `json:"log_bytes" doc:"Size of the write-ahead log beside it, which is part of it; 0 with PostgreSQL."`
	FreeBytes int64  `json:"free_bytes" doc:"How much the database may still grow; -1: not known."`
	FullAt    int64  `json:"full_at" doc:"When the disk will be full at the present rate, Unix seconds; 0: not within a day, or not known, as with PostgreSQL whose size the server was not told."`
}

// Node is a process that serves the database.
type Node struct {
	Name      string `json:"name" doc:"Of its machine."`
	Address   string `json:"address" doc:"That it listens on."`
	Version   string `json:"version" doc:"Of the program."`
	StartedAt int64  `json:"started_at" doc:"Unix milliseconds."`
	SeenAt    int64  `json:"seen_at" doc:"Its last heartbeat, Unix milliseconds."`
	Offset    int64  `json:"clock_offset_ms" doc:"What is added to its machine's clock, so that it shows the database's time."`
	Answering bool   `json:"answering" doc:"It is the one that sends this reply."`
}

// Work is one kind of work, and how much of it is due.
type Work struct {
	Work    string  `json:"work" doc:"What is to be done."`
	Due     int64   `json:"due" doc:"How much of it is due."`
	Seconds float64 `json:"oldest_seconds" doc:"For how long the oldest is due."`
	Held    bool    `json:"held" doc:"It waits because the server is held."`
}
