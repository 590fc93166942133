import { expect, vi } from 'vitest';

import type { ApiAnswer, ApiRequest, createClient, TestProject } from '../../../support/gateway.ts';
import type { WebhookReceiver } from './webhooks.ts';
import { ALL_EVENTS } from './webhooks.ts';

export type Client = Awaited<ReturnType<typeof createClient>>;

/** Generous: only a stuck call reaches it. */
const SLOW_MS = 40_000;
export const SLOW = { timeout: SLOW_MS, interval: 200 };

export interface Placed {
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
  order(more?: object, request?: ApiRequest): Promise<ApiAnswer>;
  /** Places a call, which must be accepted. */
  call(more?: object): Promise<Placed>;
  // biome-ignore lint/suspicious/noExplicitAny: the API document vouches for the shape
  shown(call: Placed): Promise<any>;
  /** Waits for one of these statuses, and returns the call. */
  until(call: Placed, ...statuses: string[]): ReturnType<Line['shown']>;
  /** Waits for the call's end, and returns the call. @param timeoutMs - For calls with a long conversation. */
  over(call: Placed, timeoutMs?: number): ReturnType<Line['shown']>;
  /** Waits until the trace's first lines match, and returns it. */
  trace(call: Placed, pattern: RegExp): Promise<TraceLine[]>;
  /** Waits for the last event; returns the names of all events in order. */
  finalized(call: Placed): Promise<string[]>;
}

export interface TraceLine {
  readonly direction: 'in' | 'out';
  readonly remote: string;
  readonly text: string;
}

/** Its method or status. */
export function firstWord(text: string): string | undefined {
  return /^(?:SIP\/2\.0 )?(\w+)/.exec(text)?.[1];
}

const FINAL = ['completed', 'busy', 'no_answer', 'failed', 'canceled'];

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
  webhooks: Pick<WebhookReceiver, 'url' | 'of'>,
  options: LineOptions,
): Promise<Line> {
  const project = await client.createProject();
  const api = (method: string, path: string, body?: object, request: ApiRequest = {}) =>
    client.api(method, project.path + path, {
      key: project.developerKey,
      ...(body === undefined ? {} : { body }),
      ...request,
    });
  const made = async (answer: Promise<ApiAnswer>) => {
    const { status, body } = await answer;
    if (status >= 300) throw new Error(`not made: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const before = await api('GET', '/pathway');
  await made(
    api('PUT', '/pathway', options.pathway ?? GREETING, {
      headers: { 'if-match': before.headers.get('etag') ?? '' },
    }),
  );
  const postSessionWebhook = { url: webhooks.url, events: [...ALL_EVENTS] };
  await made(api('PUT', '/agent', { status: 'published', postSessionWebhook, ...options.agent }));
  const trunkIds: string[] = [];
  for (const trunk of options.trunks) {
    const body = { name: 'Carrier', host: '127.0.0.1', optionsIntervalSeconds: 0, ...trunk };
    trunkIds.push((await made(api('POST', '/trunks', body))).id);
  }
  const number = await made(
    api('POST', '/phone-numbers', { number: newNumber(), trunkIds, ...options.number }),
  );

  const order: Line['order'] = (more = {}, request = {}) =>
    client.api('POST', '/v1/calls/outbound', {
      key: project.developerKey,
      body: { projectId: project.id, fromNumber: number.number, toNumber: newNumber(), ...more },
      ...request,
    });
  const shown: Line['shown'] = async ({ callId }) => (await api('GET', `/calls/${callId}`)).body;
  const reach = (call: Placed, statuses: readonly string[], timeout = SLOW_MS) =>
    vi.waitFor(
      async () => {
        const seen = await shown(call);
        expect(statuses).toContain(seen.status);
        return seen;
      },
      { ...SLOW, timeout },
    );
  return {
    ...project,
    number: number.number,
    numberId: number.id,
    trunkIds,
    api,
    order,
    async call(more) {
      const { status, body } = await order(more);
      expect([status, body.success]).toEqual([202, true]);
      return body;
    },
    shown,
    until: (call, ...statuses) => reach(call, statuses),
    over: (call, timeoutMs) => reach(call, FINAL, timeoutMs),
    trace: ({ callId }, pattern) =>
      vi.waitFor(async () => {
        const messages: TraceLine[] = (await api('GET', `/calls/${callId}/sip-trace`)).body.messages;
        expect(messages.map(({ text }) => `${firstWord(text)} `).join('')).toMatch(pattern);
        return messages;
      }, SLOW),
    async finalized({ sessionId }) {
      const events = () => webhooks.of(sessionId).map(({ event }): string => event);
      await vi.waitFor(() => expect(events()).toContain('session.finalized'), SLOW);
      return events();
    },
  };
}
