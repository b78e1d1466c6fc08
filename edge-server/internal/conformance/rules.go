package conformance

import "github.com/switchyard-dev/switchyard/edge-server/internal/profile"

const (
	turnAnswers     RuleID = "turn.answers"
	turnEnds        RuleID = "turn.ends"
	turnOneLine     RuleID = "turn.one-line"
	turnPieces      RuleID = "turn.pieces"
	turnUnknownKeys RuleID = "turn.unknown-keys"
	turnVersion     RuleID = "turn.version-opaque"
	turnUnicode     RuleID = "turn.unicode"
	turnLarge       RuleID = "turn.large"
	turnAttachments RuleID = "turn.attachments"
	turnNone        RuleID = "turn.none"
)

func turnRules() []Rule {
	return []Rule{
		{ID: turnAnswers, Severity: Must, Sentence: "A plain turn succeeds: exit code 0 and no error.", Source: "S4 exit codes"},
		{ID: turnEnds, Severity: Must, Sentence: "The process ends by itself after its turn and waits for nothing more on stdin.", Source: "S4 stdin / EOF"},
		{ID: turnOneLine, Severity: Must, Sentence: "One line is the turn: with permission on, the agent starts while stdin is still open.",
			Source: "S4 stdin / EOF", Otherwise: "permission is off (--permission)", runtimes: only(profile.Bridge)},
		{ID: turnOneLine, Severity: Must, Sentence: "One line is the turn: with permission on, the agent starts while stdin is still open.",
			Source: "S4 stdin / EOF", Otherwise: "permission is off (--permission)", runtimes: only(profile.Events)},
		{ID: turnPieces, Severity: Must, Sentence: "A turn that arrives in pieces is the same turn.", Source: "S4 input"},
		{ID: turnUnknownKeys, Severity: Must, Sentence: "Keys of the turn that the agent does not know change nothing.", Source: "S4 §4.1"},
		{ID: turnVersion, Severity: Must, Sentence: "protocol_version is not compared: another one changes nothing.", Source: "S4 input"},
		{ID: turnUnicode, Severity: Must, Sentence: "A message may hold any text: lines, quotes, escapes, every script.", Source: "S4 input"},
		{ID: turnLarge, Severity: Must, Sentence: "A message of 1 MiB is answered, or refused with an error.", Source: "S4 §4.3, no maximum"},
		{ID: turnAttachments, Severity: Must, Sentence: "A turn of attachments without text is answered, or refused with an error.", Source: "S4 §4.2"},
		{ID: turnNone, Severity: Should, Sentence: "The process ends when stdin ends before a turn.", Source: "S4 stdin / EOF"},
	}
}

const (
	stdoutEvents RuleID = "stdout.only-events"
	lineUTF8     RuleID = "line.utf8"
	lineNewline  RuleID = "line.newline"
	lineLength   RuleID = "line.length"
)

func lineRules() []Rule {
	const silent = "the agent says nothing on stdout"
	return []Rule{
		{ID: stdoutEvents, Severity: Must, Sentence: "Every line of stdout is one JSON object; everything else goes to stderr.", Source: "S4 output", Otherwise: silent},
		{ID: lineUTF8, Severity: Must, Sentence: "Lines are UTF-8.", Source: "S4 output", Otherwise: silent},
		{ID: lineNewline, Severity: Must, Sentence: "Every line ends with a line feed, the last one too.", Source: "S4 output", Otherwise: silent},
		{ID: lineLength, Severity: Should, Sentence: "A line stays below 10 MiB: of a longer one the edge keeps the beginning, as raw output.",
			Source: "this edge", Otherwise: silent},
	}
}

const (
	eventVocabulary RuleID = "event.closed-vocabulary"
	eventCase       RuleID = "event.type-case"
	eventLegacy     RuleID = "event.legacy"
	eventFields     RuleID = "event.fields"
	eventText       RuleID = "event.text"
	partialRole     RuleID = "partial.role"
	usagePlace      RuleID = "usage.place"
	usageValues     RuleID = "usage.values"
	resultOnce      RuleID = "result.at-most-one"
	errorMessage    RuleID = "error.message"
	errorLast       RuleID = "error.last"
	toolNames       RuleID = "tool.name"
	toolPairs       RuleID = "tool.pairs"
	artifactThere   RuleID = "artifact.there"
	factPayload     RuleID = "fact.payload"
	agentKnown      RuleID = "agent.known"
	requestPairs    RuleID = "request.pairs"
	callWritten     RuleID = "call.written"
	outputShown     RuleID = "output.shown"
	fidelityFits    RuleID = "fidelity.fits"
	compactionPairs RuleID = "compaction.pairs"
)

func eventRules() []Rule {
	const silent, bridge, events = "no event came", profile.Bridge, profile.Events
	return []Rule{
		{ID: eventVocabulary, Severity: Must, Sentence: "type is a word of the protocol: partial, result, error, permission_request.",
			Source: "S4 output", Otherwise: silent, runtimes: only(bridge)},
		{ID: eventVocabulary, Severity: Must, Sentence: "type is one that the schema names.", Source: "R17", Otherwise: silent, runtimes: only(events)},
		{ID: eventCase, Severity: Must, Sentence: "type is written exactly so: lower case, no spaces.", Source: "S4 §4.3", Otherwise: silent},
		{ID: eventLegacy, Severity: Must, Sentence: "session and text, events of protocol 0.3, are gone.", Source: "S4 output",
			Otherwise: silent, runtimes: only(bridge)},
		{ID: eventFields, Severity: Must, Sentence: "Fields are of the kind that the schema says, and the needed ones are there.", Source: "R17",
			Otherwise: silent, runtimes: only(events)},
		{ID: eventText, Severity: Must, Sentence: "text is a string, in a partial and in a result.", Source: "S4 §4.3", Otherwise: "no partial and no result came"},
		{ID: partialRole, Severity: Should, Sentence: "role is output or thinking.", Source: "S4 partial", Otherwise: "no partial has a role"},
		{ID: usagePlace, Severity: Must, Sentence: "usage stands on a result or an error, nowhere else.", Source: "S4 §4.3", Otherwise: "no usage is reported"},
		{ID: usageValues, Severity: Must, Sentence: "usage is an object, and what the protocol names in it are numbers.", Source: "S4 §4.3",
			Otherwise: "no usage is reported"},
		{ID: resultOnce, Severity: Must, Sentence: "There is one result at most.", Source: "S4 result", Otherwise: "no result came"},
		{ID: errorMessage, Severity: Should, Sentence: "An error has a sentence for people.", Source: "S4 error", Otherwise: "no error came"},
		{ID: errorLast, Severity: Must, Sentence: "Nothing follows an error.", Source: "S4 error", Otherwise: "no error came"},
		{ID: toolNames, Severity: Must, Sentence: "A tool call has a name.", Source: "R17", Otherwise: "no tool is used", runtimes: only(events)},
		{ID: toolPairs, Severity: Should, Sentence: "Each call has a result and each result a call.", Source: "R17", Otherwise: "no tool is used", runtimes: only(events)},
		{ID: artifactThere, Severity: Must, Sentence: "A file that is handed out is there, and inside the agent's folder.", Source: "R17",
			Otherwise: "no file is handed out", runtimes: only(events)},
		{ID: factPayload, Severity: Must, Sentence: "The payload of a fact is an object, of the shape that the fact has if it has one.", Source: "R17", Otherwise: "no fact has a payload", runtimes: only(events)},
		{ID: agentKnown, Severity: Should, Sentence: "A sub-agent is made known before it is named, and is not named after its end.", Source: "S0 §13.3", Otherwise: "no sub-agent is named", runtimes: only(events)},
		{ID: requestPairs, Severity: Should, Sentence: "Each request of the model has an end and each end a request.", Source: "S1 request_end", Otherwise: "no request of a model is told", runtimes: only(events)},
		{ID: callWritten, Severity: Should, Sentence: "A call is made with the JSON that was written for it.", Source: "S1 partial_tool_call", Otherwise: "no call shows while it is written", runtimes: only(events)},
		{ID: outputShown, Severity: Should, Sentence: "What a call puts out before it returns is the beginning of its result.", Source: "S1 partial_tool_call_output", Otherwise: "no call puts anything out before it returns", runtimes: only(events)},
		{ID: fidelityFits, Severity: Must, Sentence: "fidelity is an object of at most 96 KiB, on a call or on a piece with last.", Source: "S1 fidelity", Otherwise: "no line has fidelity", runtimes: only(events)},
		{ID: compactionPairs, Severity: Should, Sentence: "A compaction ends as it began, before the next begins.", Source: "S1 compaction_end", Otherwise: "no compaction is told", runtimes: only(events)},
	}
}

const (
	sessionValid   RuleID = "session.valid"
	sessionStable  RuleID = "session.stable"
	sessionCarried RuleID = "session.carried"
	sessionResumes RuleID = "session.resumes"
	sessionUnknown RuleID = "session.unknown"
)

func sessionRules() []Rule {
	const stateless = "stateless: the agent names no session"
	return []Rule{
		{ID: sessionValid, Severity: Must, Sentence: `session_id is a text without /, \ and control characters, not . or ...`, Source: "S4 §4.3", Otherwise: stateless},
		{ID: sessionStable, Severity: Must, Sentence: "There is one session_id in a turn.", Source: "S4 session_id", Otherwise: stateless},
		{ID: sessionCarried, Severity: Should, Sentence: "Once known, session_id is on every later event.", Source: "S4 session_id",
			Otherwise: stateless, runtimes: only(profile.Bridge)},
		{ID: sessionResumes, Severity: Must, Sentence: "A resumed turn works and has the session_id that was handed in, or none; an id that cannot be resumed is not made up.",
			Source: "S4 session_id", Otherwise: stateless},
		{ID: sessionUnknown, Severity: Should, Sentence: "A session that the agent does not know is answered, or refused with an error.", Source: "S4 session_id"},
	}
}

const (
	endSaid      RuleID = "end.said"
	endLast      RuleID = "end.last"
	exitSaysWhy  RuleID = "exit.says-why"
	exitReserved RuleID = "exit.reserved"
	termEnds     RuleID = "term.ends-in-grace"
	treeOrphans  RuleID = "tree.no-orphans"
)

func endRules() []Rule {
	return []Rule{
		{ID: endSaid, Severity: Must, Sentence: "A turn ends with done, result or error: silence is no success.", Source: "R17",
			Otherwise: "no turn ended with exit code 0", runtimes: only(profile.Events)},
		{ID: endLast, Severity: Must, Sentence: "Nothing follows done or error.", Source: "R17", Otherwise: "no done or error came", runtimes: only(profile.Events)},
		{ID: exitSaysWhy, Severity: Should, Sentence: "A turn that fails says why in an error.", Source: "S4 exit codes", Otherwise: "no plain turn failed"},
		{ID: exitReserved, Severity: Should, Sentence: "Exit codes 124, 130 and 143 are left to timeouts and signals.", Source: "S4 exit codes"},
		{ID: termEnds, Severity: Should, Sentence: "The process and all it started end within the grace period after SIGTERM.", Source: "S4 timeouts",
			Otherwise: "the agent always ended before it could be stopped"},
		{ID: treeOrphans, Severity: Should, Sentence: "Nothing that the agent started outlives it.", Source: "S4 principle 4, one turn per process"},
	}
}

const (
	permissionOff     RuleID = "permission.off"
	permissionID      RuleID = "permission.request-id"
	permissionUnique  RuleID = "permission.id-unique"
	permissionTool    RuleID = "permission.tool"
	permissionInput   RuleID = "permission.input"
	permissionAllow   RuleID = "permission.allow"
	permissionDeny    RuleID = "permission.deny"
	permissionUpdated RuleID = "permission.updated-input"
	permissionOrder   RuleID = "permission.order"
	permissionWaits   RuleID = "permission.waits"
	permissionEOF     RuleID = "permission.eof"
	promptFits        RuleID = "prompt.fits"
)

func permissionRules() []Rule {
	const never = "the agent never asked"
	return []Rule{
		{ID: permissionOff, Severity: Must, Sentence: "The agent asks only in a turn that has permission.", Source: "S4 §4.4"},
		{ID: permissionID, Severity: Must, Sentence: "request_id is a text without spaces and control characters.", Source: "S4 §4.4", Otherwise: never},
		{ID: permissionUnique, Severity: Must, Sentence: "A request_id is used once in a turn.", Source: "S4 §4.4", Otherwise: never},
		{ID: permissionTool, Severity: Must, Sentence: "tool_name names the tool.", Source: "S4 §4.4", Otherwise: never},
		{ID: permissionInput, Severity: Must, Sentence: "input is an object, {} at least.", Source: "S4 §4.4", Otherwise: never},
		{ID: permissionAllow, Severity: Must, Sentence: "After an allow the turn goes on and ends.", Source: "S4 permission", Otherwise: never},
		{ID: permissionDeny, Severity: Must, Sentence: "After a deny the turn goes on and ends, or refuses with an error.", Source: "S4 permission", Otherwise: never},
		{ID: permissionUpdated, Severity: Must, Sentence: "An allow with updated_input is taken like any other.", Source: "S4 §4.4", Otherwise: never},
		{ID: permissionOrder, Severity: Must, Sentence: "Several requests may be answered in any order.", Source: "S4 §4.4",
			Otherwise: "the agent never had two requests open"},
		{ID: permissionWaits, Severity: Must, Sentence: "The agent waits for the answer before it ends its turn.", Source: "S4 permission", Otherwise: never},
		{ID: permissionEOF, Severity: Should, Sentence: "The agent ends when stdin ends before the answer.", Source: "S4 §4.4", Otherwise: never},
		{ID: promptFits, Severity: Must, Sentence: "A prompt is of a kind that there is, and inner and timeout_ms are as that kind has them.", Source: "S0 prompt.user",
			Otherwise: "the agent never asked with a prompt", runtimes: only(profile.Events)},
	}
}

const (
	clientOffered RuleID = "client.offered"
	clientID      RuleID = "client.id-unique"
	clientResult  RuleID = "client.result"
)

func clientRules() []Rule {
	const never = "the agent calls no tool of a client"
	return []Rule{
		{ID: clientOffered, Severity: Must, Sentence: "Only a tool that a client offers is called, with an object.", Source: "S0 §9", Otherwise: never,
			runtimes: only(profile.Events)},
		{ID: clientID, Severity: Must, Sentence: "The tool_call_id of such a call is not one that the turn has used.", Source: "S0 §9", Otherwise: never,
			runtimes: only(profile.Events)},
		{ID: clientResult, Severity: Must, Sentence: "After the result of a client, or its failure, the turn goes on and ends.", Source: "S0 §9",
			Otherwise: "no call of a tool that a client offers was answered", runtimes: only(profile.Events)},
	}
}
