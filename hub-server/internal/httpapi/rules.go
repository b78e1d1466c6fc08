package httpapi

import (
	"maps"
	"net/http"
)

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
	patch  = http.MethodPatch + " "
	remove = http.MethodDelete + " "
	head   = http.MethodHead + " "
)

// rules is authorise(principal, action, resource) as a table (SEC10): the pattern of a route is the action, its path names the resource.
// A route without a rule does not exist. A test holds the table to the contract, both ways.
func rules() map[string]rule {
	all := map[string]rule{}
	for _, some := range []map[string]rule{rulesOfPeople(), rulesOfConversations(), rulesOfWork(), rulesOfRuns(), rulesOfMachines()} {
		maps.Copy(all, some)
	}
	return all
}

// rulesOfPeople are about who people are, their devices, and what they are told.
func rulesOfPeople() map[string]rule {
	return map[string]rule{
		post + "/client/auth/bootstrap":                            {operation: "bootstrapUser", who: anybody, limit: loginLimit},
		post + "/client/auth/register":                             {operation: "registerUser", who: anybody, limit: loginLimit},
		post + "/client/auth/login":                                {operation: "login", who: anybody, limit: loginLimit},
		post + "/client/auth/refresh":                              {operation: "refreshTokens", who: anybody, limit: refreshLimit},
		post + "/client/auth/logout":                               {operation: "logout", who: person},
		get + "/client/auth/me":                                    {operation: "getMe", who: person},
		post + "/client/invitations":                               {operation: "createInvitation", who: person, may: administer},
		get + "/client/devices":                                    {operation: "listDevices", who: person},
		post + "/client/devices":                                   {operation: "registerDevice", who: person},
		remove + "/client/devices/{device_id}":                     {operation: "revokeDevice", who: person},
		put + "/client/devices/self/attention":                     {operation: "putAttention", who: person},
		post + "/client/devices/self/push":                         {operation: "registerPush", who: person},
		remove + "/client/devices/self/push":                       {operation: "unregisterPush", who: person},
		post + "/client/devices/self/push/test":                    {operation: "testPush", who: person},
		get + "/client/push":                                       {operation: "getPush", who: person},
		get + "/client/notifications/{notification_id}/deliveries": {operation: "listPushDeliveries", who: person},
		post + "/client/auth/logout-everywhere":                    {operation: "logoutEverywhere", who: person},
		get + "/client/people/{username}":                          {operation: "findPerson", who: person},
		get + "/client/contacts":                                   {operation: "listContacts", who: person},
		post + "/client/contacts":                                  {operation: "requestContact", who: person},
		post + "/client/contacts/requests/{request_id}/accept":     {operation: "acceptContact", who: person}, // the store finds what waits for oneself alone
		post + "/client/contacts/requests/{request_id}/decline":    {operation: "declineContact", who: person},
		remove + "/client/contacts/{user_id}":                      {operation: "removeContact", who: person},
		put + "/client/contacts/{user_id}/block":                   {operation: "blockContact", who: person},
		remove + "/client/contacts/{user_id}/block":                {operation: "unblockContact", who: person},
		get + "/client/notifications":                              {operation: "listNotifications", who: person},
		post + "/client/notifications/read":                        {operation: "readAllNotifications", who: person},
		post + "/client/notifications/{notification_id}/read":      {operation: "readNotification", who: person}, // the store finds one's own alone
	}
}

// rulesOfConversations are about what people say to one another, and hear.
func rulesOfConversations() map[string]rule {
	return map[string]rule{
		get + "/client/sessions":                                     {operation: "listSessions", who: person},
		post + "/client/sessions/private":                            {operation: "createPrivateSession", who: person},
		post + "/client/sessions/group":                              {operation: "createGroupSession", who: person},
		get + "/client/sessions/{session_id}":                        {operation: "getSession", who: person, may: readSession},
		post + "/client/sessions/{session_id}/members":               {operation: "addMember", who: person, may: readSession},
		remove + "/client/sessions/{session_id}/members/{member_id}": {operation: "removeMember", who: person, may: readSession},
		patch + "/client/sessions/{session_id}/info":                 {operation: "updateSessionInfo", who: person, may: readSession},
		patch + "/client/sessions/{session_id}/settings":             {operation: "updateSessionSettings", who: person, may: readSession},
		post + "/client/sessions/{session_id}/leave":                 {operation: "leaveSession", who: person, may: readSession},
		post + "/client/sessions/{session_id}/transfer-owner":        {operation: "transferSession", who: person, may: readSession},
		post + "/client/sessions/{session_id}/dissolve":              {operation: "dissolveSession", who: person, may: readSession},
		post + "/client/sessions/{session_id}/messages":              {operation: "sendMessage", who: person, may: readSession},
		get + "/client/sessions/{session_id}/messages":               {operation: "listMessages", who: person, may: readSession},
		get + "/client/sessions/{session_id}/messages/sync":          {operation: "syncMessages", who: person, may: readSession},
		get + "/client/sessions/{session_id}/messages/changes":       {operation: "listMessageChanges", who: person, may: readSession},
		post + "/client/sessions/{session_id}/runs":                  {operation: "createRun", who: person, may: readSession},
		post + "/client/sessions/{session_id}/read":                  {operation: "markRead", who: person, may: readSession},
		get + "/api/sessions/{session_id}/traces":                    {operation: "listTraces", who: person, may: readSession},
		post + "/api/traces":                                         {operation: "importTrace", who: person},
		get + "/api/sessions/{session_id}/messages":                  {operation: "listOmniMessages", who: person, may: readSession},
		get + "/api/sessions/{session_id}/stream":                    {operation: "streamOmniMessages", who: person, may: readSession},
		post + "/client/attachments":                                 {operation: "uploadAttachment", who: person},
		get + "/client/attachments/{attachment_id}":                  {operation: "getAttachment", who: person, may: readFile},
		get + "/client/attachments/{attachment_id}/content":          {operation: "getAttachmentContent", who: person, may: readFile},
		get + "/client/search":                                       {operation: "searchMessages", who: person}, // within one conversation: see the handler
		get + "/client/sync":                                         {operation: "syncChanges", who: person},
		put + "/client/messages/{message_id}":                        {operation: "editMessage", who: person, may: readMessage},
		post + "/client/messages/{message_id}/recall":                {operation: "recallMessage", who: person, may: readMessage},
		post + "/client/messages/{message_id}/pin":                   {operation: "pinMessage", who: person, may: readMessage},
		remove + "/client/messages/{message_id}/pin":                 {operation: "unpinMessage", who: person, may: readMessage},
		post + "/client/messages/{message_id}/forward":               {operation: "forwardMessage", who: person, may: readMessage},
		get + "/client/messages/{message_id}/reactions":              {operation: "listReactions", who: person, may: readMessage},
		post + "/client/messages/{message_id}/reactions":             {operation: "addReaction", who: person, may: readMessage},
		remove + "/client/messages/{message_id}/reactions":           {operation: "removeReaction", who: person, may: readMessage},
		get + "/client/sessions/{session_id}/pins":                   {operation: "listPins", who: person, may: readSession},
		get + "/client/unread":                                       {operation: "getUnread", who: person},
		get + "/client/ws":                                           {operation: "openClientSocket", who: upgrade, limit: socketLimit},
		get + "/v1/ws":                                               {operation: "openCardSocket", who: upgrade, limit: socketLimit},
	}
}

// rulesOfWork are about what a conversation is at, as S1 has it. Who may operate which agent is the domain's to check: the path names none.
func rulesOfWork() map[string]rule {
	return map[string]rule{
		get + "/api/sessions/{session_id}":                           {operation: "getOmniSession", who: person, may: readSession},
		patch + "/api/sessions/{session_id}":                         {operation: "updateOmniSession", who: person, may: readSession},
		post + "/api/sessions/{session_id}/tasks":                    {operation: "createOmniTask", who: person, may: readSession},
		post + "/api/sessions/{session_id}/steer":                    {operation: "steerOmniTask", who: person, may: readSession},
		remove + "/api/sessions/{session_id}/steer/{steer_id}":       {operation: "withdrawOmniSteer", who: person, may: readSession},
		post + "/api/sessions/{session_id}/approvals/{tool_call_id}": {operation: "decideOmniApproval", who: person, may: readSession},
		post + "/api/sessions/{session_id}/abort":                    {operation: "abortOmniTasks", who: person, may: readSession},
		post + "/api/sessions/{session_id}/retry-now":                {operation: "retryOmniNow", who: person, may: readSession},
		post + "/api/sessions/{session_id}/compact":                  {operation: "compactOmniSession", who: person, may: readSession},
	}
}

// rulesOfRuns are about agents and what they do.
func rulesOfRuns() map[string]rule {
	return map[string]rule{
		get + "/client/agents":                                     {operation: "listAgents", who: person},
		post + "/client/agents":                                    {operation: "createAgent", who: person},
		get + "/client/agents/{agent_id}":                          {operation: "getAgent", who: person, may: seeAgent},
		post + "/web/agent-tasks":                                  {operation: "createAgentTask", who: person},
		get + "/web/agent-tasks":                                   {operation: "listAgentTasks", who: person},
		get + "/web/agent-tasks/{task_id}":                         {operation: "getAgentTask", who: person, may: readRun},
		post + "/web/agent-tasks/{task_id}/cancel":                 {operation: "cancelAgentTask", who: person, may: operateRun},
		post + "/web/agent-tasks/{task_id}/regenerate":             {operation: "regenerateAgentTask", who: person, may: operateRun},
		get + "/web/agent-tasks/{task_id}/events":                  {operation: "listAgentTaskEvents", who: person, may: readRun},
		get + "/api/agent-runs/{run_id}/events":                    {operation: "followRunEvents", who: person, may: readRun},
		get + "/web/agent-tasks/{task_id}/approvals":               {operation: "listAgentTaskPrompts", who: person, may: readRun},
		get + "/web/agent-tasks/{task_id}/approvals/{request_id}":  {operation: "getPrompt", who: person, may: readRun},
		post + "/web/agent-tasks/{task_id}/approvals/{request_id}": {operation: "answerPrompt", who: person, may: operateRun},
		get + "/client/prompts":                                    {operation: "listPrompts", who: person},
		get + "/web/agent-tasks/{task_id}/artifacts":               {operation: "listAgentTaskArtifacts", who: person, may: readRun},
		get + "/client/artifacts/{artifact_id}":                    {operation: "getArtifact", who: person, may: readArtifact},
		get + "/client/artifacts/{artifact_id}/content":            {operation: "getArtifactContent", who: person, may: readArtifact},
	}
}

// rulesOfMachines are about edges, and about the hub itself.
func rulesOfMachines() map[string]rule {
	return map[string]rule{
		get + "/client/edges":                                  {operation: "listEdges", who: person},
		post + "/client/edges/enrolments":                      {operation: "createEnrolment", who: person},
		get + "/client/edges/{edge_id}":                        {operation: "getEdge", who: person, may: operateEdge},
		remove + "/client/edges/{edge_id}":                     {operation: "revokeEdge", who: person, may: ownEdge},
		put + "/client/edges/{edge_id}/operators/{user_id}":    {operation: "grantOperator", who: person, may: ownEdge},
		remove + "/client/edges/{edge_id}/operators/{user_id}": {operation: "revokeOperator", who: person, may: ownEdge},
		post + "/edge/enrol":                                   {operation: "enrolEdge", who: anybody, limit: loginLimit},
		get + "/edge/uplink":                                   {operation: "openEdgeUplink", who: upgrade, limit: socketLimit},
		put + "/edge/blobs/{sha256}":                           {operation: "putBlob", who: machine},
		head + "/edge/blobs/{sha256}":                          {operation: "headBlob", who: machine},
		get + "/healthz":                                       {operation: "getHealth", who: anybody},
		get + "/readyz":                                        {operation: "getReadiness", who: anybody},
		get + "/metrics":                                       {operation: "getMetrics", who: scraper},
	}
}
