package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// ListDevices implements listDevices.
func (h handlers) ListDevices(ctx context.Context, _ ListDevicesRequestObject) (ListDevicesResponseObject, error) {
	by := caller(ctx)
	devices, err := h.Devices.List(ctx, by)
	if err != nil {
		return nil, err
	}
	current := account.Device{ID: by.Device}
	return ListDevices200JSONResponse{
		Items: mapAll(devices, func(d account.Device) Device { return renderDevice(d, current) }),
	}, nil
}

// RegisterDevice implements registerDevice.
func (h handlers) RegisterDevice(ctx context.Context, r RegisterDeviceRequestObject) (RegisterDeviceResponseObject, error) {
	attempt, err := attemptOf(ctx, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	login, err := h.Devices.Register(ctx, caller(ctx), newDevice(*r.Body), attempt)
	if err != nil {
		return nil, err
	}
	return RegisterDevice201JSONResponse(renderTokens(login)), nil
}

// RevokeDevice implements revokeDevice.
func (h handlers) RevokeDevice(ctx context.Context, r RevokeDeviceRequestObject) (RevokeDeviceResponseObject, error) {
	device, err := pathID(id.ParseDevice, r.DeviceID)
	if err != nil {
		return nil, err
	}
	if err := h.Devices.Revoke(ctx, caller(ctx), device); err != nil {
		return nil, hide(err)
	}
	return RevokeDevice204Response{}, nil
}

func renderDevice(d, current account.Device) Device {
	return Device{
		ID: DeviceID(d.ID), Type: DeviceType(d.Type), Name: d.Name, Current: d.ID == current.ID,
		CreatedAt: d.CreatedAt, LastSeenAt: d.LastSeenAt,
	}
}
