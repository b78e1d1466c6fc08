// Package event names and encodes the facts of a run's log: the catalogue of event types, the envelope that carries one, the payloads that
// our own producers write, and the bytes of all of these. Payload bytes are made once, by Encode, and never encoded again.
package event
