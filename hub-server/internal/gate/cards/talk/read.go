package talk

import "github.com/switchyard-dev/switchyard/shared/card"

// Heard is a frame of the client; a Frame of nil could not be read.
type Heard = card.ReceivedFrame
