package main

import (
	"context"
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	home := t.TempDir()
	for name, tt := range map[string]struct {
		args   []string
		code   int
		stdout string // a part of it
		stderr string
	}{
		"version":             {[]string{"version"}, 0, "edge-server dev", ""},
		"help":                {[]string{"--help"}, 0, "Usage: edge-server", ""},
		"check":               {[]string{"serve", "--check"}, 0, "EDGE_HOME=" + home, ""},
		"check, documented":   {[]string{"-check"}, 0, "EDGE_HOME=" + home, ""},
		"not enrolled":        {nil, 1, "", "yard edge enrol"},
		"unknown command":     {[]string{"fly"}, 2, "", "unexpected argument fly"},
		"enrol without token": {[]string{"enrol", "--hub", "http://127.0.0.1:1"}, 2, "", "--token"},
		"enrol without a hub": {[]string{"enrol", "--hub", "http://127.0.0.1:1", "--token", "x"}, 1, "", "does it run"},
		"health without edge": {[]string{"health"}, 1, "", "was an edge ever started"},
		"runs without edge":   {[]string{"runs"}, 1, "", "was an edge ever started"},
		"follow without edge": {[]string{"follow", "--cursor", "7"}, 1, "", "Go on with: edge-server follow --cursor 7"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs strings.Builder
			p := program{ctx: context.Background(), environ: []string{"EDGE_HOME=" + home}, stdout: &out, stderr: &errs}
			if code := p.run(tt.args); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if !strings.Contains(out.String(), tt.stdout) || !strings.Contains(errs.String(), tt.stderr) {
				t.Errorf("stdout:\n%s\nstderr:\n%s", out.String(), errs.String())
			}
		})
	}
}

func TestFaultsOfTheConfigurationAreShown(t *testing.T) {
	var out, errs strings.Builder
	p := program{ctx: context.Background(), environ: []string{"EDGE_ADDR=1.2.3.4:1", "EDGE_PLACES=x"}, stdout: &out, stderr: &errs}
	if code := p.run(nil); code != 1 || !strings.Contains(errs.String(), "EDGE_ADDR") || !strings.Contains(errs.String(), "EDGE_PLACES: ") {
		t.Errorf("code %d\n%s", code, errs.String())
	}
}
