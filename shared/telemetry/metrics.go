package telemetry

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// The instruments. All are safe for concurrent use.
type (
	// Counter only grows.
	Counter interface {
		Inc()
		Add(float64)
	}
	// Gauge goes up and down.
	Gauge interface {
		Set(float64)
		Add(float64)
		Inc()
		Dec()
	}
	// Histogram counts observations in buckets.
	Histogram interface{ Observe(float64) }
)

// Registry holds the metrics of one process (or, in tests, of one of several cores in it).
type Registry struct {
	namespace string
	prom      *prometheus.Registry
}

// NewRegistry returns a registry whose metrics are all named namespace_…, with those of the Go runtime and the process beside them.
func NewRegistry(namespace string) *Registry {
	prom := prometheus.NewRegistry()
	prom.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &Registry{namespace: namespace, prom: prom}
}

// Handler serves the metrics in the Prometheus text format. Who may ask is the caller's business.
func (r *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(r.prom, promhttp.HandlerOpts{})
}

// Build publishes the version as the label of a constant metric.
func (r *Registry) Build(version string) {
	r.GaugeVec("build_info", "Always 1; the labels say what is running.", "version", "go").With(version, runtime.Version()).Set(1)
}

// Counter returns the counter of that name, made at the first call.
func (r *Registry) Counter(name, help string) Counter {
	return register(r, prometheus.NewCounter(prometheus.CounterOpts{Namespace: r.namespace, Name: name, Help: help}))
}

// Gauge returns the gauge of that name, made at the first call.
func (r *Registry) Gauge(name, help string) Gauge {
	return register(r, prometheus.NewGauge(prometheus.GaugeOpts{Namespace: r.namespace, Name: name, Help: help}))
}

// GaugeFunc publishes what read returns at each scrape. read must be fast and safe for concurrent use.
func (r *Registry) GaugeFunc(name, help string, read func() float64) {
	register(r, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: r.namespace, Name: name, Help: help}, read))
}

// Histogram returns the histogram of that name, made at the first call. buckets are upper bounds, ascending.
func (r *Registry) Histogram(name, help string, buckets []float64) Histogram {
	return register(r, prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: r.namespace, Name: name, Help: help, Buckets: buckets,
	}))
}

// Vec is a family of instruments of one name, told apart by label values.
type Vec[I any] struct{ with func(values ...string) I }

// With returns the member with these label values, in the order in which the labels were declared. Values come from small fixed sets.
func (v Vec[I]) With(values ...string) I { return v.with(values...) }

// CounterVec returns the family of counters of that name.
func (r *Registry) CounterVec(name, help string, labels ...string) Vec[Counter] {
	vec := register(r, prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: r.namespace, Name: name, Help: help}, labels))
	return Vec[Counter]{func(values ...string) Counter { return vec.WithLabelValues(values...) }}
}

// GaugeVec returns the family of gauges of that name.
func (r *Registry) GaugeVec(name, help string, labels ...string) Vec[Gauge] {
	vec := register(r, prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: r.namespace, Name: name, Help: help}, labels))
	return Vec[Gauge]{func(values ...string) Gauge { return vec.WithLabelValues(values...) }}
}

// HistogramVec returns the family of histograms of that name.
func (r *Registry) HistogramVec(name, help string, buckets []float64, labels ...string) Vec[Histogram] {
	vec := register(r, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: r.namespace, Name: name, Help: help, Buckets: buckets,
	}, labels))
	return Vec[Histogram]{func(values ...string) Histogram { return vec.WithLabelValues(values...) }}
}

// LatencyBuckets are bounds in seconds from half a millisecond to ten seconds.
func LatencyBuckets() []float64 {
	return []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
}

// ObserveSince records the seconds since start.
func ObserveSince(h Histogram, start time.Time) { h.Observe(time.Since(start).Seconds()) }

// register returns the collector that is already there under the same description, so that two instances of a part share one. Anything else that
// goes wrong is a mistake in the program text (a name with two meanings), hence the panic.
func register[C prometheus.Collector](r *Registry, c C) C {
	err := r.prom.Register(c)
	var already prometheus.AlreadyRegisteredError
	if errors.As(err, &already) {
		if existing, ok := already.ExistingCollector.(C); ok {
			return existing
		}
	}
	if err != nil {
		panic(fmt.Sprintf("register metric: %v", err))
	}
	return c
}
