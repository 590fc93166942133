import { setMaxListeners } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import { serveOnLoopback } from './loopbackServer.ts';

/** One step of a response. */
export type Step =
  /** Raw bytes. */
  | { readonly send: string }
  /** One event: `data: ` and the JSON of it. */
  | { readonly chunk: unknown }
  | { readonly waitMs: number }
  /** Never ends; the client has to leave. */
  | 'hang'
  /** Cuts the connection with a TCP reset. */
  | 'reset';

/** One response. */
export interface Script {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: none, and the response ends. */
  readonly steps?: readonly Step[];
  /** A JSON document in place of steps. */
  readonly json?: unknown;
  /** Replaces the response. */
  readonly instead?: 'hang' | 'reset';
}

export type Answer = Script | ((body: RequestBody, request: ReceivedRequest) => Script | Promise<Script>);
/** Parsed JSON of a request, with the endpoint's field names. */
export type RequestBody = Readonly<Record<string, unknown>>;

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: RequestBody;
  /** Resolves when the response was sent completely, or the client disconnected first. */
  readonly outcome: Promise<'answered' | 'client_left' | 'reset'>;
}

/** An OpenAI-compatible endpoint on loopback with scripted responses, for tests and benchmarks. */
export interface ScriptedUpstream {
  /** Base URL, such as `http://127.0.0.1:40123/v1`. */
  readonly baseUrl: string;
  /** Every request so far, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** Number of TCP connections so far. */
  readonly connections: number;
  /** Drops the recorded requests; benchmarks send more than memory should hold. */
  clearRequests(): void;
  /** Replaces the remaining answers. */
  answerWith(...answers: readonly Answer[]): void;
  /** Closes all connections, including hanging ones. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts an upstream. Each request uses the next answer of the list; the last one repeats.
 *
 * ```ts
 * const upstream = await startScriptedUpstream({ status: 503 }, { steps: saying('Good ', 'day.') });
 * const echo = await startScriptedUpstream((body) => ({ steps: saying(String(body.model)) }));
 * ```
 */
export async function startScriptedUpstream(...first: readonly Answer[]): Promise<ScriptedUpstream> {
  let answers = [...first];
  const requests: ReceivedRequest[] = [];
  const ending = new AbortController();
  // Each pending response adds a listener.
  setMaxListeners(0, ending.signal);

  const server = await serveOnLoopback(async (request, response) => {
    const text = (await request.toArray()).join('');
    const body: RequestBody = text === '' ? {} : JSON.parse(text);
    const { promise: outcome, settle } = outcomeOf(response);
    const received = { path: request.url ?? '', headers: request.headers, body, outcome };
    requests.push(received);
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 500 };
    const script = typeof answer === 'function' ? await answer(body, received) : answer;
    await play(script, response, ending.signal, settle);
  });
  let closing: Promise<void> | undefined;
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    requests,
    get connections() {
      return server.connections();
    },
    clearRequests() {
      requests.length = 0;
    },
    answerWith(...next) {
      answers = [...next];
    },
    close() {
      ending.abort();
      closing ??= server.close();
      return closing;
    },
  };
}

/** A chunk with this delta. */
export function chunk(delta: object, finishReason: string | null = null): Step {
  return { chunk: wireChunk([{ index: 0, delta, finish_reason: finishReason }]) };
}

/** The usage chunk. */
export function usageChunk(promptTokens: number, completionTokens: number, cachedTokens?: number) {
  const usage = {
    prompt_tokens: promptTokens,
    prompt_tokens_details: cachedTokens === undefined ? undefined : { cached_tokens: cachedTokens },
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
  return { chunk: { ...wireChunk([]), usage } };
}

export const done: Step = { send: 'data: [DONE]\n\n' };

/** A complete text answer in these pieces. */
export function saying(...pieces: readonly string[]): Step[] {
  const words = pieces.map((content) => chunk({ content }));
  return [chunk({ role: 'assistant', content: '' }), ...words, chunk({}, 'stop'), done];
}

/** A complete answer that calls one tool, with its arguments in these pieces. */
export function calling(name: string, ...pieces: readonly string[]): Step[] {
  const head = { index: 0, id: `call_${name}`, type: 'function', function: { name, arguments: '' } };
  const rest = pieces.map((piece) => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] }));
  return [
    chunk({ role: 'assistant', content: null, tool_calls: [head] }),
    ...rest,
    chunk({}, 'tool_calls'),
    done,
  ];
}

/** An error in OpenAI's format. */
export function failing(status: number, message: string, code: string | null = null): Script {
  return { status, json: { error: { message, type: 'scripted', param: null, code } } };
}

function wireChunk(choices: readonly object[]) {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'scripted-1', choices };
}

type Outcome = Awaited<ReceivedRequest['outcome']>;

function outcomeOf(response: ServerResponse) {
  let settle: (outcome: Outcome) => void = () => undefined;
  const promise = new Promise<Outcome>((resolve) => {
    settle = resolve;
  });
  response.on('close', () => settle(response.writableFinished ? 'answered' : 'client_left'));
  return { promise, settle };
}

async function play(
  script: Script,
  response: ServerResponse,
  ending: AbortSignal,
  settle: (outcome: Outcome) => void,
): Promise<void> {
  const reset = () => {
    settle('reset');
    response.socket?.resetAndDestroy();
  };
  if (script.instead === 'reset') return reset();
  if (script.instead === 'hang') return;
  const isDocument = script.json !== undefined;
  response.writeHead(script.status ?? 200, {
    'content-type': isDocument ? 'application/json' : 'text/event-stream',
    ...script.headers,
  });
  if (isDocument) return void response.end(JSON.stringify(script.json));
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  for (const step of script.steps ?? []) {
    if (response.destroyed || ending.aborted) return;
    if (step === 'hang') return;
    if (step === 'reset') return reset();
    if ('waitMs' in step) await delay(step.waitMs, undefined, { signal: ending }).catch(() => undefined);
    else response.write('send' in step ? step.send : `data: ${JSON.stringify(step.chunk)}\n\n`);
  }
  response.end();
}
