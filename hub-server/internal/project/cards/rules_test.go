package cards_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/form"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/form/formtest"
)

func TestEveryEventOfTheCatalogueHasADecision(t *testing.T) {
	formtest.Complete(t, form.Texts(cards.Rules()))
}

func TestThePageHasTheTableOfForms(t *testing.T) {
	formtest.Page(t, "cards", form.Texts(cards.Rules()), *update)
}
