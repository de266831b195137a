// What the programs for the clients in Go share.
package main

import (
	"fmt"
	"os"
)

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L"

func fail(what string, arguments ...any) {
	fmt.Fprintf(os.Stderr, what+"\n", arguments...)
	os.Exit(1)
}

func must(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func expect(isTrue bool, what string) {
	if !isTrue {
		fail("not so: %s", what)
	}
}
