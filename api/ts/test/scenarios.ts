import { readFileSync } from "node:fs";

import { elements, members, object } from "../src/json.js";
import type { Answer } from "./hub.js";

/** What a hub does and what a client must have made of it. api/scenarios.md says what each field means. */
export interface Scenario {
  name: string;
  rule: string;
  start: { cursor?: string; begin?: "missed" | "whole" | "live"; by?: "sync"; session?: string; user?: string; since?: string; heads?: Record<string, number>; changes?: Record<string, number>; keep?: { messages?: number; runs?: number } };
  rest: Map<string, Answer[]>;
  connections: Connection[];
  want: Outcome;
}

export interface Connection {
  cursor: string;
  after_ms?: [number, number];
  refuse?: Answer;
  script: Step[];
}

export interface Step {
  /** The frame's text, without white space. */
  send?: string;
  text?: string;
  cut?: boolean;
  close?: { code: number; reason: string };
  until_closed?: boolean;
}

export interface Outcome {
  cursor: string;
  ended: string;
  told?: string[];
  /** Texts. */
  records?: Map<string, string>;
  marks?: Record<string, number>;
  unread?: Record<string, number>;
  bubbles?: Record<string, string[]>;
  words?: Record<string, string>;
  requests?: Record<string, number>;
  digest?: string;
}

/** Reads the file that all SDKs share. Payloads stay texts: digests are over them. */
export function readScenarios(file: URL): Scenario[] {
  const fields = members(readFileSync(file, "utf8")) ?? new Map<string, string>();
  only(fields, ["version", "scenarios"]);
  if (fields.get("version") !== "1") {
    throw new Error(`version ${fields.get("version")} of the scenarios is not known here`);
  }
  return listOf(fields.get("scenarios")).map(scenario);
}

function scenario(raw: string): Scenario {
  const fields = read(raw, ["name", "rule", "start", "rest", "connections", "want"]);
  return {
    name: value(fields.get("name")),
    rule: value(fields.get("rule")),
    start: value(object(read(fields.get("start") ?? "{}", ["cursor", "begin", "by", "session", "user", "since", "heads", "changes", "keep"]))),
    rest: new Map(Array.from(members(fields.get("rest") ?? "{}") ?? [], ([path, answers]) => [path, listOf(answers).map(answer)])),
    connections: listOf(fields.get("connections")).map(connection),
    want: outcome(fields.get("want") ?? "{}"),
  };
}

function connection(raw: string): Connection {
  const fields = read(raw, ["cursor", "after_ms", "refuse", "script"]);
  const refuse = fields.get("refuse");
  return {
    cursor: value(fields.get("cursor") ?? '""'),
    after_ms: value(fields.get("after_ms") ?? "null") ?? undefined,
    refuse: refuse === undefined ? undefined : answer(refuse),
    script: listOf(fields.get("script") ?? "[]").map(step),
  };
}

function step(raw: string): Step {
  const fields = read(raw, ["send", "text", "cut", "close", "until_closed"]);
  const send = fields.get("send");
  return { ...value<Step>(raw), send: send === undefined ? undefined : compact(send) };
}

function answer(raw: string): Answer {
  return { ...value<Answer>(raw), body: read(raw, ["status", "retry_after", "body", "after_ms"]).get("body") };
}

function outcome(raw: string): Outcome {
  const fields = read(raw, ["cursor", "ended", "told", "records", "marks", "unread", "bubbles", "words", "requests", "digest"]);
  return { ...value<Outcome>(raw), cursor: value(fields.get("cursor") ?? '""'), ended: value(fields.get("ended") ?? '""'), records: members(fields.get("records") ?? "null") };
}

export function value<T>(raw: string | undefined): T {
  return JSON.parse(raw ?? "null") as T;
}

export function listOf(raw: string | undefined): string[] {
  return elements(raw ?? "[]") ?? [];
}

export function read(raw: string, names: string[]): Map<string, string> {
  const fields = members(raw) ?? new Map<string, string>();
  only(fields, names);
  return fields;
}

/** A runner that knows less than the file says would pass what it does not try. */
function only(fields: Map<string, string>, names: string[]): void {
  for (const name of fields.keys()) {
    if (!names.includes(name)) {
      throw new Error(`the field ${name} of the scenarios is not known here`);
    }
  }
}

/** The text without white space outside of strings, and with no escape that need not be. */
function compact(raw: string): string {
  return raw.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (token) => (token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : ""));
}
