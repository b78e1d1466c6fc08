package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
)

// testPushRate bounds what a person can have the hub say to a server of their choice at once.
var testPushRate = Rate{Burst: 5, PerMinute: 10}

// RegisterPush implements registerPush.
func (h handlers) RegisterPush(ctx context.Context, r RegisterPushRequestObject) (RegisterPushResponseObject, error) {
	b := r.Body
	address := push.Address{URL: b.URL, Token: b.Token, Key: push.DecodeKey(b.P256Dh), Auth: push.DecodeKey(b.Auth)}
	made, err := h.Push.Register(ctx, caller(ctx), push.Channel(b.Channel), address, b.ShowText)
	if err != nil {
		return nil, err
	}
	return RegisterPush200JSONResponse(renderRegistration(made)), nil
}

// UnregisterPush implements unregisterPush.
func (h handlers) UnregisterPush(ctx context.Context, _ UnregisterPushRequestObject) (UnregisterPushResponseObject, error) {
	if err := h.Push.Unregister(ctx, caller(ctx)); err != nil {
		return nil, err
	}
	return UnregisterPush204Response{}, nil
}

// TestPush implements testPush.
func (h handlers) TestPush(ctx context.Context, _ TestPushRequestObject) (TestPushResponseObject, error) {
	by := caller(ctx)
	if err := take(ctx, h.Limiter, "push test", string(by.User), testPushRate); err != nil {
		return nil, err
	}
	result, err := h.Push.Test(ctx, by)
	if err != nil {
		return nil, err
	}
	return TestPush200JSONResponse{Sent: result.Code == "", Code: PushCode(result.Code), HTTPStatus: result.Status}, nil
}

// GetPush implements getPush.
func (h handlers) GetPush(ctx context.Context, _ GetPushRequestObject) (GetPushResponseObject, error) {
	all, err := h.Push.List(ctx, caller(ctx))
	if err != nil {
		return nil, err
	}
	return GetPush200JSONResponse{VapidPublicKey: h.PushKey, Items: mapAll(all, renderRegistration)}, nil
}

// ListPushDeliveries implements listPushDeliveries.
func (h handlers) ListPushDeliveries(ctx context.Context, r ListPushDeliveriesRequestObject) (ListPushDeliveriesResponseObject, error) {
	found, err := h.Push.Deliveries(ctx, caller(ctx), r.NotificationID)
	if err != nil {
		return nil, err
	}
	return ListPushDeliveries200JSONResponse{Items: mapAll(found, renderDelivery)}, nil
}

func renderRegistration(r push.Registration) PushRegistration {
	return PushRegistration{
		DeviceID: DeviceID(r.Device), Channel: PushChannel(r.Channel), Host: r.Host, ShowText: r.ShowText, CreatedAt: r.CreatedAt,
	}
}

func renderDelivery(d push.Delivery) PushDelivery {
	out := PushDelivery{
		DeviceID: DeviceID(d.Device), Channel: PushChannel(d.Channel), State: PushState(d.State), Code: PushCode(d.Code), HTTPStatus: d.Status,
		Tries: d.Tries, ActiveDeviceID: DeviceID(d.ActiveDevice), ActiveSessionID: SessionID(d.ActiveSession),
		CreatedAt: d.CreatedAt, SentAt: d.SentAt, ChangedAt: d.ChangedAt,
	}
	if d.State == push.Pending || d.State == push.Clearing {
		out.NextTryAt = d.Due
	}
	return out
}
