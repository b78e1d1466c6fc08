// Package admission takes commands from the hub and sees each admitted run through to its terminal event. A command is on disk before it
// is answered and before anything starts; an intent is on disk before a process is spawned; a crash in between is never repeated blindly
// (architecture 6.1).
package admission
