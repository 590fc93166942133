import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';

import type { ApiAnswer, ApiRequest, createClient, TestProject } from '../../../support/gateway.ts';
import type { WebhookReceiver } from './webhooks.ts';
import { ALL_EVENTS } from './webhooks.ts';

export type Client = Awaited<ReturnType<typeof createClient>>;

/** Generous: only a stuck call reaches it. */
const SLOW_MS = 40_000;
/** Between the first two reads of a call; the pauses grow, since each read costs the node that carries the calls. */
const FIRST_PAUSE_MS = 50;
export const SLOW = { timeout: SLOW_MS, interval: 200 };

export interface PlacedCall {
  readonly callId: string;
  readonly sessionId: string;
}

/** A project that can call: an agent with webhooks, trunks to ports of this machine, and a number. */
export interface Line extends TestProject {
  readonly number: string;
  readonly numberId: string;
  /** In order of trial. */
  readonly trunkIds: readonly string[];
  api(method: string, path: string, body?: object, request?: ApiRequest): Promise<ApiAnswer>;
  requestCall(more?: object, request?: ApiRequest): Promise<ApiAnswer>;
  /** Places a call, which must be accepted. */
  call(more?: object): Promise<PlacedCall>;
  // biome-ignore lint/suspicious/noExplicitAny: the API document vouches for the shape
  readCall(call: PlacedCall): Promise<any>;
  /** Waits for one of these statuses, and returns the call. */
  waitForStatus(call: PlacedCall, ...statuses: string[]): ReturnType<Line['readCall']>;
  /** Waits for the call's end, and returns the call. @param timeoutMs - For calls with a long conversation. */
  waitForEnd(call: PlacedCall, timeoutMs?: number): ReturnType<Line['readCall']>;
  /** Waits until the trace's first lines match, and returns it. */
  trace(call: PlacedCall, pattern: RegExp): Promise<TraceLine[]>;
  /** Waits for the last event; returns the names of all events in order. */
  waitForFinalized(call: PlacedCall): Promise<string[]>;
  /** The types of the call's live events in order, until its session is finalized. */
  liveEvents(call: PlacedCall): Promise<string[]>;
}

interface TraceLine {
  readonly direction: 'in' | 'out';
  readonly remote: string;
  readonly text: string;
}

/** Its method or status. */
export function methodOrStatus(text: string): string | undefined {
  return /^(?:SIP\/2\.0 )?(\w+)/.exec(text)?.[1];
}

const FINAL_STATUSES = ['completed', 'busy', 'no_answer', 'failed', 'canceled'];

export interface LineOptions {
  /** One trunk each, in order of trial; fields beside those that a test must choose. */
  readonly trunks: readonly object[];
  readonly number?: object;
  readonly pathway?: object;
  /** Agent fields beside its webhooks; published by default. */
  readonly agent?: object;
}

let lastDigits = 0;
/** Unique within this test process. */
export function newNumber(): string {
  lastDigits += 1;
  return `09${String(10_000_000 + lastDigits)}`;
}

const GREETING = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Greet', prompt: 'Say "Hello, this is the test line."' } },
  ],
  edges: [],
};

export async function makeLine(
  client: Client,
  webhooks: Pick<WebhookReceiver, 'url' | 'forSession'>,
  options: LineOptions,
): Promise<Line> {
  const project = await client.createProject();
  const api = (method: string, path: string, body?: object, request: ApiRequest = {}) =>
    client.api(method, project.path + path, {
      key: project.developerKey,
      ...(body === undefined ? {} : { body }),
      ...request,
    });
  const expectSuccess = async (answer: Promise<ApiAnswer>) => {
    const { status, body } = await answer;
    if (status >= 300) throw new Error(`request failed: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  // Refused for a moment where the machine is too busy for the health checks.
  const before = await vi.waitFor(async () => {
    const answer = await api('GET', '/pathway');
    expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
    return answer;
  }, SLOW);
  await expectSuccess(
    api('PUT', '/pathway', options.pathway ?? GREETING, {
      headers: { 'if-match': before.headers.get('etag') ?? '' },
    }),
  );
  const postSessionWebhook = { url: webhooks.url, events: [...ALL_EVENTS] };
  await expectSuccess(api('PUT', '/agent', { status: 'published', postSessionWebhook, ...options.agent }));
  // Every line's trunk is this machine, and every line's number takes calls.
  const asOperator = { key: client.adminToken };
  const trunkIds: string[] = [];
  for (const trunk of options.trunks) {
    const body = { name: 'Carrier', host: '127.0.0.1', optionsIntervalSeconds: 0, ...trunk };
    trunkIds.push((await expectSuccess(api('POST', '/trunks', body, asOperator))).id);
  }
  const number = await expectSuccess(
    api('POST', '/phone-numbers', { number: newNumber(), trunkIds, ...options.number }, asOperator),
  );

  const requestCall: Line['requestCall'] = (more = {}, request = {}) =>
    client.api('POST', '/v1/calls/outbound', {
      key: project.developerKey,
      body: { projectId: project.id, fromNumber: number.number, toNumber: newNumber(), ...more },
      ...request,
    });
  const readCall: Line['readCall'] = async ({ callId }) => (await api('GET', `/calls/${callId}`)).body;
  const pollStatus = async (
    call: PlacedCall,
    statuses: readonly string[],
    { longestPauseMs, timeoutMs = SLOW_MS }: { longestPauseMs: number; timeoutMs?: number | undefined },
  ) => {
    const giveUpAtMs = performance.now() + timeoutMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(longestPauseMs, 1.5 * pauseMs)) {
      const seen = await readCall(call);
      if (statuses.includes(seen.status)) return seen;
      if (performance.now() > giveUpAtMs) expect(statuses).toContain(seen.status);
      await sleep(pauseMs);
    }
  };
  return {
    ...project,
    number: number.number,
    numberId: number.id,
    trunkIds,
    api,
    requestCall,
    async call(more) {
      const { status, body } = await requestCall(more);
      expect([status, body.success]).toEqual([202, true]);
      return body;
    },
    readCall,
    waitForStatus: (call, ...statuses) => pollStatus(call, statuses, { longestPauseMs: SLOW.interval }),
    // A final status stays.
    waitForEnd: (call, timeoutMs) =>
      pollStatus(call, FINAL_STATUSES, { longestPauseMs: 3 * SLOW.interval, timeoutMs }),
    trace: ({ callId }, pattern) =>
      vi.waitFor(async () => {
        const messages: TraceLine[] = (await api('GET', `/calls/${callId}/sip-trace`)).body.messages;
        expect(messages.map(({ text }) => `${methodOrStatus(text)} `).join('')).toMatch(pattern);
        return messages;
      }, SLOW),
    async waitForFinalized({ sessionId }) {
      const events = () => webhooks.forSession(sessionId).map(({ event }): string => event);
      await vi.waitFor(() => expect(events()).toContain('session.finalized'), SLOW);
      return events();
    },
    async liveEvents({ callId }) {
      const stream = await fetch(`${client.url}${project.path}/events?callId=${callId}`, {
        headers: { authorization: `Bearer ${project.developerKey}`, 'last-event-id': '0-0' },
      });
      let text = '';
      for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        // Leaving the loop closes the stream.
        if (text.includes('event: session.finalized')) break;
      }
      return [...text.matchAll(/^event: (.*)$/gm)].map(([, type = '']) => type);
    },
  };
}
