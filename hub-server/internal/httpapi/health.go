package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// GetHealth implements getHealth: whoever can answer is alive.
func (h handlers) GetHealth(context.Context, GetHealthRequestObject) (GetHealthResponseObject, error) {
	return GetHealth200JSONResponse{Status: HealthStatusOk, Version: h.Version, Checks: []HealthCheck{}}, nil
}

// GetReadiness implements getReadiness. Why a check failed is in the log; the answer names the check only.
func (h handlers) GetReadiness(ctx context.Context, _ GetReadinessRequestObject) (GetReadinessResponseObject, error) {
	results, ready := h.Health.Report(ctx)
	health := Health{Status: HealthStatusOk, Version: h.Version, Checks: mapAll(results, func(r telemetry.Result) HealthCheck {
		return HealthCheck{Name: r.Name, Ok: r.Error == nil}
	})}
	if ready {
		return GetReadiness200JSONResponse(health), nil
	}
	for _, r := range results {
		if r.Error != nil {
			h.Log.WarnContext(ctx, "not ready", "check", r.Name, "error", r.Error)
		}
	}
	health.Status = HealthStatusUnready
	return GetReadiness503JSONResponse(health), nil
}
