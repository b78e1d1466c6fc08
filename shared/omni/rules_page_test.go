package omni_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

func TestPageHasTheRulesOfStreams(t *testing.T) {
	var b strings.Builder
	for _, rule := range omni.Rules() {
		b.WriteString("- " + strings.ToUpper(string(rule[:1])) + string(rule[1:]) + ".\n")
	}
	holdPage(t, "rules", b.String())
}
