package omni_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/form"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/form/formtest"
	omnifold "github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
)

func TestEveryEventOfTheCatalogueHasADecision(t *testing.T) {
	formtest.Complete(t, form.Texts(omnifold.Rules()))
}

func TestThePageHasTheTableOfForms(t *testing.T) {
	formtest.Page(t, "omni", form.Texts(omnifold.Rules()), *update)
}
