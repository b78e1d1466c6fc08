package hub

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"
)

func TestTheSecondAddressServesCardsAndNothingElse(t *testing.T) {
	config, err := LoadConfig([]string{"HUB_HOME=" + t.TempDir(), "HUB_ADDR=127.0.0.1:0", "HUB_CARDS_ADDR=127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	own, cards := make(chan net.Addr, 1), make(chan net.Addr, 1)
	h, err := New(t.Context(), Options{
		Config: config, Log: slog.New(slog.DiscardHandler), Version: "test",
		Ready: func(a net.Addr) { own <- a }, CardsReady: func(a net.Addr) { cards <- a },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	all, only := (<-own).String(), (<-cards).String()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for address, want := range map[string]int{
		all + "/healthz": http.StatusOK, all + "/v1/ws": http.StatusBadRequest, // it is no upgrade
		only + "/healthz": http.StatusNotFound, only + "/client/ws": http.StatusNotFound, only + "/v1/ws": http.StatusBadRequest,
	} {
		resp, err := client.Get("http://" + address)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s is answered %d, want %d", address, resp.StatusCode, want)
		}
	}
}
