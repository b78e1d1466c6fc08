package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// PutBlob implements putBlob. The bytes are hashed while they are stored; nothing of them is held in memory as a whole.
func (h handlers) PutBlob(ctx context.Context, r PutBlobRequestObject) (PutBlobResponseObject, error) {
	hash, err := blobHash(r.Sha256)
	if err != nil {
		return nil, err
	}
	if err := h.Blobs.Put(ctx, callOf(ctx).edge.ID, hash, r.Body); err != nil {
		return nil, err
	}
	return PutBlob204Response{}, nil
}

// HeadBlob implements headBlob. An edge only hears of what it has uploaded itself.
func (h handlers) HeadBlob(ctx context.Context, r HeadBlobRequestObject) (HeadBlobResponseObject, error) {
	hash, err := blobHash(r.Sha256)
	if err != nil {
		return nil, err
	}
	has, err := h.Blobs.Has(ctx, callOf(ctx).edge.ID, hash)
	if err != nil {
		return nil, err
	}
	if !has {
		return HeadBlob404Response{}, nil
	}
	return HeadBlob200Response{}, nil
}

func blobHash(s string) (runlog.BlobHash, error) {
	hash, err := runlog.ParseBlobHash(s)
	if err != nil {
		return "", fault.Wrap(err, fault.InvalidRequest, "The address must end in the SHA-256 of the bytes: 64 lower-case hex digits.")
	}
	return hash, nil
}
