package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// post makes a call to a running server. The error holds the server's reply, and never a key. wait is how long the server asks to
// wait before the next call; 0: it took the call, or refused it for another reason than its rate.
func post(address string, body, into any) (wait time.Duration, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	server, err := url.Parse(address)
	if err != nil {
		return 0, errors.New("the address of the server is no URL")
	}
	client := http.Client{Timeout: 30 * time.Second}
	answer, err := client.Post(address, "application/json", bytes.NewReader(text))
	if err != nil {
		return 0, fmt.Errorf("%s://%s does not answer", server.Scheme, server.Host)
	}
	defer answer.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(answer.Body, 4<<20))
	if err != nil {
		return 0, err
	}
	var envelope struct {
		Data  json.RawMessage
		Error *struct{ Code, Message string }
	}
	if err := json.Unmarshal(reply, &envelope); err != nil {
		return 0, fmt.Errorf("%s://%s answered %s, which is not Tocsin", server.Scheme, server.Host, answer.Status)
	}
	if envelope.Error == nil {
		return 0, json.Unmarshal(envelope.Data, into)
	}
	if answer.StatusCode == http.StatusTooManyRequests {
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After")) // without it the next call may come soon
		wait = time.Duration(seconds)*time.Second + time.Millisecond
	}
	return wait, fmt.Errorf("%s: %s", envelope.Error.Code, envelope.Error.Message)
}
