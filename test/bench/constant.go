package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
)

// constant is the server to compare with: it reads the request and replies as many bytes as the path asks for, and does
// nothing else. It runs in its own process, as the server under test does.
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
