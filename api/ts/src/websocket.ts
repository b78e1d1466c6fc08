import { SUBPROTOCOL } from "./hubEvents.js";

/** As much of a WebSocket as this SDK uses: the browser's, Node's own from 22 on, or that of the package `ws`. */
export interface WebSocketLike {
  onopen: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  onerror: ((event: any) => void) | null;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  /** Of `ws` alone: tells the HTTP answer to an upgrade that was refused. */
  on?(event: "unexpected-response", listener: (request: { destroy(): void }, response: IncomingMessage) => void): unknown;
}

/** The HTTP answer as Node has it. */
export interface IncomingMessage {
  statusCode?: number;
  headers: Record<string, string | string[] | undefined>;
  setEncoding(encoding: string): void;
  on(event: "data" | "end" | "error", listener: (part: any) => void): unknown;
}

/** The standard constructor. */
export type WebSocketConstructor = new (url: string, protocols?: string | string[]) => WebSocketLike;

/** Opens a socket with a credential. Never with a token in the URL. */
export type Opener = (url: string, token: string) => WebSocketLike;

/** How much one frame may weigh, in characters. */
export const MAX_FRAME = 4 * 1024 * 1024;

/**
 * Finds a WebSocket: the one given, the global one, or the optional package `ws` where there is no global one (Node before 22). The token goes
 * as a bearer header where headers can be set, which is with `ws`, and as the second subprotocol elsewhere.
 */
export async function findWebSocket(given?: WebSocketConstructor): Promise<Opener> {
  const standard = given ?? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
  if (standard) {
    return (url, token) => new standard(url, [SUBPROTOCOL, token]);
  }
  const { WebSocket: Ws } = await importWs();
  return (url, token) =>
    new Ws(url, { headers: { Authorization: `Bearer ${token}` }, maxPayload: MAX_FRAME, perMessageDeflate: false, followRedirects: false });
}

interface WsModule {
  WebSocket: new (url: string, options: Record<string, unknown>) => WebSocketLike;
}

async function importWs(): Promise<WsModule> {
  const name = "ws"; // a variable, so that bundlers for browsers do not look for it
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as WsModule;
  } catch (error) {
    throw new Error("there is no WebSocket here: use Node 22 or newer, install the package ws, or give the option WebSocket", { cause: error });
  }
}
