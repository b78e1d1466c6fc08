package profile

import "slices"

// Policy says who answers an agent that asks for permission to use a tool.
type Policy string

// Policies. The empty one is Ask.
const (
	Ask           Policy = "ask"            // a person
	AllowReadonly Policy = "allow-readonly" // yes to the tools that only look, a person for the others
	AllowAll      Policy = "allow-all"      // yes
	DenyAll       Policy = "deny-all"       // no
)

// Policies returns every policy, the default first.
func Policies() []Policy { return []Policy{Ask, AllowReadonly, AllowAll, DenyAll} }

// DefaultReadonlyTools are the tools that AllowReadonly lets through when the profile names none: those of the known agent programs that look at
// files and at nothing else. Programs that fetch from the network or run commands are not among them.
func DefaultReadonlyTools() []string {
	return []string{"Read", "Glob", "Grep", "LS", "NotebookRead", "TodoRead"}
}

// Readonly says whether the profile calls the tool one that only looks. Names are compared exactly.
func (p Profile) Readonly(tool string) bool {
	if p.ReadonlyTools == nil {
		return slices.Contains(DefaultReadonlyTools(), tool)
	}
	return slices.Contains(p.ReadonlyTools, tool)
}
