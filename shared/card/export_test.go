package card

import "github.com/switchyard-dev/switchyard/shared/fault"

// Decided is what the table says of a code.
func Decided(code fault.Code) (ErrorType, bool) {
	t, ok := causes[code]
	return t, ok
}
