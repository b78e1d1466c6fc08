//go:build linux && amd64

// This file and the one beside it become a part of package main of a server that is built for tests of wall clocks that are wrong: package rig
// lays them over its folder. The runtime then asks them for the time, and with it everything in the process; its monotonic clock stays as it is.
package main

import (
	"os"
	"syscall"
	"unsafe"
)

// clockFile names, in the environment, the file whose eight bytes are by how many seconds the wall clock is ahead. They count at once.
const clockFile = "SWITCHYARD_TEST_CLOCK"

//go:linkname clockOfRuntime runtime.vdsoClockgettimeSym
var clockOfRuntime uintptr

// What wrongClock goes by.
var (
	rightClock uintptr // clock_gettime, as the kernel gives it to every process
	ahead      *int64
)

// addressOfWrongClock is where wrongClock begins.
func addressOfWrongClock() uintptr

func init() {
	path := os.Getenv(clockFile)
	if path == "" {
		return
	}
	f, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	page, err := syscall.Mmap(int(f.Fd()), 0, int(unsafe.Sizeof(*ahead)), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	ahead = (*int64)(unsafe.Pointer(&page[0]))
	rightClock, clockOfRuntime = clockOfRuntime, addressOfWrongClock()
}
