package httpapi

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/apicontract"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

func TestSEC10EveryOperationOfTheContractHasARuleAndNoOther(t *testing.T) {
	doc, err := apicontract.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	table := rules()
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			pattern := strings.ToUpper(method) + " " + path
			if table[pattern].operation != op.OperationID || table[pattern].who == 0 {
				t.Errorf("%s (%s) has the rule %+v", pattern, op.OperationID, table[pattern].operation)
			}
			open := op.Security != nil && len(*op.Security) == 0
			if who := table[pattern].who; open != (who == anybody) {
				t.Errorf("%s: the contract says open=%v, the rule says audience %d", pattern, open, who)
			}
			delete(table, pattern)
		}
	}
	for pattern := range table {
		t.Errorf("rule for %s, which is not in the contract", pattern)
	}
}

// findThemselves are the operations of which the store finds nothing but what is the caller's own.
var findThemselves = []string{
	"revokeDevice", "listPushDeliveries", "readNotification", "findPerson", "acceptContact", "declineContact", "removeContact", "blockContact",
	"unblockContact",
}

func TestSEC10WhatAPathNamesIsJudgedBeforeItsHandlerRuns(t *testing.T) {
	for pattern, r := range rules() {
		unjudged := r.who == person && strings.Contains(pattern, "{") && r.may == nil
		if unjudged != slices.Contains(findThemselves, r.operation) {
			t.Errorf("%s (%s): judged %t", pattern, r.operation, !unjudged)
		}
	}
}

func TestEveryCodeOfTheContractHasAStatus(t *testing.T) {
	doc, err := apicontract.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range doc.Components.Schemas["ProblemCode"].Value.Enum {
		name, _ := code.(string)
		if name != string(fault.Internal) && statuses[fault.Code(name)] == 0 {
			t.Errorf("code %s has no status", name)
		}
	}
}
