package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
)

// constant is the yardstick: a server that reads the request and answers as many bytes as asked for in
// the path, with nothing behind it. It runs in a process of its own, as the server under test does.
func constant() error {
	replies := map[string][]byte{}
	for _, size := range os.Args[2:] {
		n, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		replies["/"+size] = bytes.Repeat([]byte("x"), n)
	}
	listener, url, err := listen()
	if err != nil {
		return err
	}
	fmt.Println("listening on", url)
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		reply := replies[r.URL.Path]
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(reply)))
		w.Write(reply)
	}))
}
