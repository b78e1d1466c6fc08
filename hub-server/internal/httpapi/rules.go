package httpapi

import "net/http"

// audience is whose credential an operation takes.
type audience uint8

const (
	anybody audience = iota + 1 // no credential
	person                      // a user's access token
	machine                     // an edge's credential
	scraper                     // see mayScrape
	upgrade                     // a socket: its handler judges the credential before it upgrades
)

// rule is what the guard asks of a request before its handler runs.
type rule struct {
	operation string // operationId of the contract
	who       audience
	may       check // of a person over what the path names; nil: being logged in suffices, the body's rights are the domain's to check
	limit     limit // for operations without a credential
}

// limit names the rate that holds for an operation that needs no credential.
type limit uint8

const (
	loginLimit limit = iota + 1
	refreshLimit
	socketLimit
)

const (
	get    = http.MethodGet + " "
	post   = http.MethodPost + " "
	put    = http.MethodPut + " "
	remove = http.MethodDelete + " "
	head   = http.MethodHead + " "
)

// rules is authorise(principal, action, resource) as a table (SEC10): the pattern of a route is the action, its path names the resource.
// A route without a rule does not exist. A test holds the table to the contract, both ways.
func rules() map[string]rule {
	return map[string]rule{
		post + "/client/auth/bootstrap": {operation: "bootstrapUser", who: anybody, limit: loginLimit},
		post + "/client/auth/register":  {operation: "registerUser", who: anybody, limit: loginLimit},
		post + "/client/auth/login":     {operation: "login", who: anybody, limit: loginLimit},
		post + "/client/auth/refresh":   {operation: "refreshTokens", who: anybody, limit: refreshLimit},
		post + "/client/auth/logout":    {operation: "logout", who: person},
		get + "/client/auth/me":         {operation: "getMe", who: person},
		post + "/client/invitations":    {operation: "createInvitation", who: person, may: administer},

		get + "/client/devices":                {operation: "listDevices", who: person},
		post + "/client/devices":               {operation: "registerDevice", who: person},
		remove + "/client/devices/{device_id}": {operation: "revokeDevice", who: person},

		get + "/client/sessions":                                     {operation: "listSessions", who: person},
		post + "/client/sessions/private":                            {operation: "createPrivateSession", who: person},
		post + "/client/sessions/group":                              {operation: "createGroupSession", who: person},
		get + "/client/sessions/{session_id}":                        {operation: "getSession", who: person, may: readSession},
		post + "/client/sessions/{session_id}/members":               {operation: "addMember", who: person, may: readSession},
		remove + "/client/sessions/{session_id}/members/{member_id}": {operation: "removeMember", who: person, may: readSession},
		post + "/client/sessions/{session_id}/messages":              {operation: "sendMessage", who: person, may: readSession},
		get + "/client/sessions/{session_id}/messages":               {operation: "listMessages", who: person, may: readSession},
		get + "/client/sessions/{session_id}/messages/sync":          {operation: "syncMessages", who: person, may: readSession},
		post + "/client/sessions/{session_id}/runs":                  {operation: "createRun", who: person, may: readSession},
		post + "/client/sessions/{session_id}/read":                  {operation: "markRead", who: person, may: readSession},
		get + "/client/agents":                                       {operation: "listAgents", who: person},
		post + "/client/agents":                                      {operation: "createAgent", who: person},
		get + "/client/agents/{agent_id}":                            {operation: "getAgent", who: person, may: seeAgent},
		get + "/client/edges":                                        {operation: "listEdges", who: person},
		post + "/client/edges/enrolments":                            {operation: "createEnrolment", who: person},
		get + "/client/edges/{edge_id}":                              {operation: "getEdge", who: person, may: operateEdge},
		remove + "/client/edges/{edge_id}":                           {operation: "revokeEdge", who: person, may: ownEdge},
		put + "/client/edges/{edge_id}/operators/{user_id}":          {operation: "grantOperator", who: person, may: ownEdge},
		remove + "/client/edges/{edge_id}/operators/{user_id}":       {operation: "revokeOperator", who: person, may: ownEdge},
		post + "/web/agent-tasks":                                    {operation: "createAgentTask", who: person},
		get + "/web/agent-tasks":                                     {operation: "listAgentTasks", who: person},
		get + "/web/agent-tasks/{task_id}":                           {operation: "getAgentTask", who: person, may: readRun},
		post + "/web/agent-tasks/{task_id}/cancel":                   {operation: "cancelAgentTask", who: person, may: operateRun},
		post + "/web/agent-tasks/{task_id}/regenerate":               {operation: "regenerateAgentTask", who: person, may: operateRun},
		get + "/web/agent-tasks/{task_id}/events":                    {operation: "listAgentTaskEvents", who: person, may: readRun},
		get + "/api/agent-runs/{run_id}/events":                      {operation: "followRunEvents", who: person, may: readRun},
		get + "/web/agent-tasks/{task_id}/approvals":                 {operation: "listAgentTaskPrompts", who: person, may: readRun},
		get + "/web/agent-tasks/{task_id}/approvals/{request_id}":    {operation: "getPrompt", who: person, may: readRun},
		post + "/web/agent-tasks/{task_id}/approvals/{request_id}":   {operation: "answerPrompt", who: person, may: operateRun},
		get + "/client/prompts":                                      {operation: "listPrompts", who: person},
		get + "/web/agent-tasks/{task_id}/artifacts":                 {operation: "listAgentTaskArtifacts", who: person, may: readRun},
		get + "/client/artifacts/{artifact_id}":                      {operation: "getArtifact", who: person, may: readArtifact},
		get + "/client/artifacts/{artifact_id}/content":              {operation: "getArtifactContent", who: person, may: readArtifact},
		get + "/client/ws":                                           {operation: "openClientSocket", who: upgrade, limit: socketLimit},
		post + "/edge/enrol":                                         {operation: "enrolEdge", who: anybody, limit: loginLimit},
		get + "/edge/uplink":                                         {operation: "openEdgeUplink", who: upgrade, limit: socketLimit},
		put + "/edge/blobs/{sha256}":                                 {operation: "putBlob", who: machine},
		head + "/edge/blobs/{sha256}":                                {operation: "headBlob", who: machine},
		get + "/healthz":                                             {operation: "getHealth", who: anybody},
		get + "/readyz":                                              {operation: "getReadiness", who: anybody},
		get + "/metrics":                                             {operation: "getMetrics", who: scraper},
	}
}
