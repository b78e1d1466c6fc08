package gate

import (
	"container/heap"
	"time"
)

// noAlarm is the index of a connection that has no alarm.
const noAlarm = -1

// alarm is a connection's place among the alarms of its shard. It may ring before anything is due: times move on far more often than an
// alarm rings, and only earlier ones are worth the work of moving it.
type alarm struct {
	at    time.Time
	index int
}

// alarms are the connections of a shard by the time at which it must look after them.
type alarms []*conn

// set has the connection rung at a time, or sooner.
func (a *alarms) set(c *conn, at time.Time) {
	switch {
	case c.alarm.index == noAlarm:
		c.alarm.at = at
		heap.Push(a, c)
	case at.Before(c.alarm.at):
		c.alarm.at = at
		heap.Fix(a, c.alarm.index)
	}
}

func (a *alarms) remove(c *conn) {
	if c.alarm.index != noAlarm {
		heap.Remove(a, c.alarm.index)
	}
}

// next is when the first alarm rings; false if there is none.
func (a alarms) next() (time.Time, bool) {
	if len(a) == 0 {
		return time.Time{}, false
	}
	return a[0].alarm.at, true
}

// ring takes a connection whose time has come out of the alarms; false if there is none.
func (a *alarms) ring(now time.Time) (*conn, bool) {
	if at, ok := a.next(); !ok || at.After(now) {
		return nil, false
	}
	return heap.Pop(a).(*conn), true //nolint:forcetypeassert // there is nothing else in it
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (a alarms) Len() int           { return len(a) }
func (a alarms) Less(i, j int) bool { return a[i].alarm.at.Before(a[j].alarm.at) }

// Swap implements heap.Interface.
func (a alarms) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].alarm.index, a[j].alarm.index = i, j
}

// Push implements heap.Interface.
func (a *alarms) Push(x any) {
	c := x.(*conn) //nolint:forcetypeassert // there is nothing else in it
	c.alarm.index = len(*a)
	*a = append(*a, c)
}

// Pop implements heap.Interface.
func (a *alarms) Pop() any {
	last := len(*a) - 1
	c := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	c.alarm.index = noAlarm
	return c
}
