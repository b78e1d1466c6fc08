// Package lane holds both ends of an edge's lane as pure step machines (architecture 6.5): the Sender decides what an edge says about its rows,
// the Receiver what a hub does with the frames, and Judge how an edge receives a command. They stand side by side because each is only right
// against the other, and so that one simulator can hold them against each other over a network that loses, repeats and reorders. Goroutines,
// sockets and stores are elsewhere: internal/uplink and internal/admission of either program are thin shells around what is decided here.
package lane

import "time"

// Silence is for how long either end hears nothing before it takes the connection for dead.
const Silence = 15 * time.Second
