"""Agents for Switchyard's bridge protocol 0.4, in Python 3.8 and later. One file, no dependencies: copy it beside your agent.

    import switchyard
    turn = switchyard.read_turn()
    turn.partial("You said: " + turn.message)
    turn.result()

Everything that is not the agent's business is here: lines, session ids, and answers to permission requests in whatever order they come.
"""
import json
import sys


class Permission:
    """The answer to a request. `input` is what the tool may be used with: yours, or what the person made of it."""

    def __init__(self, allowed, input, message=""):
        self.allowed, self.input, self.message = allowed, input, message

    def __bool__(self):
        return self.allowed


class Turn:
    """What the agent is asked, and its voice. Set `session` to a name under which you can find this conversation again; it is "" for a
    new one, and what you called it last time otherwise. Leave it alone if you keep nothing between turns."""

    def __init__(self, line, lines, out):
        self.message = line["message"]
        self.session = line["session_id"]
        self.session_name = line.get("session_name", "default")
        self.attachments = line.get("attachments", [])
        self.permission = line.get("permission", False)
        self._lines, self._out, self._asked = lines, out, 0

    def partial(self, text):
        """Say the next piece of the reply."""
        self._say(type="partial", text=text)

    def thinking(self, text):
        """Say the next piece of the reasoning, which is shown beside the reply."""
        self._say(type="partial", role="thinking", text=text)

    def result(self, text="", usage=None):
        """End the turn. `text` is the whole reply, needed only if no partial said it."""
        self._say(type="result", text=text, **({"usage": usage} if usage else {}))

    def error(self, message):
        """Fail the turn with a sentence for people. Exit after it."""
        self._say(type="error", message=message)

    def request_permission(self, tool, input, description=""):
        """Ask a person whether `tool` may be used, and wait for the answer."""
        return self.request_permissions([(tool, input, description)])[0]

    def request_permissions(self, requests):
        """Ask for several tools at once, (tool, input) or (tool, input, description) each. Waits for all answers, in the order asked."""
        if not self.permission:  # nobody would answer
            return [Permission(False, r[1], "This agent may not ask: its profile lacks permission: true.") for r in requests]
        ids = []
        for tool, input, *description in requests:
            self._asked += 1
            ids.append(str(self._asked))
            about = {"description": description[0]} if description and description[0] else {}
            self._say(type="permission_request", request_id=ids[-1], tool_name=tool, input=input, **about)
        answers = self._answers(set(ids))
        return [self._permission(answers.get(i), request[1]) for i, request in zip(ids, requests)]

    def _answers(self, waiting):
        answers = {}
        while waiting - answers.keys():
            line = self._lines.readline()
            if not line:  # the turn is over: what has no answer is denied
                break
            answer = json.loads(line)
            if answer.get("type") == "permission_response" and answer.get("request_id") in waiting:
                answers[answer["request_id"]] = answer
        return answers

    @staticmethod
    def _permission(answer, input):
        if answer is None:
            return Permission(False, input, "Nobody answered.")
        if answer.get("behavior") != "allow":
            return Permission(False, input, answer.get("message", ""))
        return Permission(True, answer.get("updated_input", input))

    def _say(self, **event):
        if self.session:
            event["session_id"] = self.session
        self._out.write(json.dumps(event) + "\n")
        self._out.flush()


def read_turn():
    """Read the turn from stdin. stdout belongs to the protocol from here on: print what is for you to sys.stderr."""
    lines = open(sys.stdin.fileno(), encoding="utf-8", newline="\n", closefd=False)
    out = open(sys.stdout.fileno(), "w", encoding="utf-8", newline="\n", closefd=False)
    line = lines.readline()
    if not line:
        sys.exit("switchyard: stdin ended before there was a turn")
    return Turn(json.loads(line), lines, out)
