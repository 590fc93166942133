import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

import { trunkTo } from '../../../../src/app/simulator/simulator.ts';
import { newNumber } from '../../phone/support/line.ts';
import { ALL_EVENTS } from '../../phone/support/webhooks.ts';
import type { Node } from './cluster.ts';
import { pressing } from './people.ts';
import { expectWhole, type Rig, type Talk } from './rig.ts';

const CHAT_CLIENTS = 3;
/** Pause between two chats of one client, since this machine runs six call lines too. */
const CHAT_PAUSE_MS = 50;
const AGAIN_MS = 100;
const CHAT_ATTEMPTS = 100;

/** Outbound calls, inbound calls and chats, spread over the nodes as a load balancer would. */
export interface Load {
  readonly callsRunning: number;
  readonly callsDone: number;
  readonly chatsDone: number;
  /** Starts nothing new, and waits for running calls and chats to end. */
  stop(): Promise<void>;
  /** Fails when a call was dropped, an event is missing, repeated or out of order, or a chat was refused or lost. */
  expectWhole(): Promise<void>;
}

export interface LoadOptions {
  readonly callsOut: number;
  readonly callsIn: number;
  /** Duration of each call, in ms. */
  readonly keys: number;
}

export function startLoad(rig: Rig, { callsOut, callsIn, keys }: LoadOptions): Load {
  const { cluster, line, people } = rig;
  const withRole = (role: Node['roles'][number]) => cluster.nodes.filter(({ roles }) => roles.includes(role));
  const out: Talk[] = [];
  const came: { readonly outcome: string }[] = [];
  const refused: string[] = [];
  const chats = new Map<string, string[]>();
  let running = 0;
  let done = 0;
  let chatsDone = 0;
  let isStopping = false;

  /** Tries one API node after another until one accepts the request. */
  const ask = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const apis = withRole('api');
    for (let attempt = 0; attempt < CHAT_ATTEMPTS; attempt += 1) {
      const { url } = apis[attempt % apis.length] ?? cluster.node('api');
      const answer = await post(url + path, line.developerKey, body, headers).catch(() => undefined);
      if (answer) return answer;
      await sleep(AGAIN_MS);
    }
    throw new Error(`no API takes ${path}`);
  };
  const callOut = async () => {
    const number = people.answering(keys);
    const order = { projectId: line.id, fromNumber: line.number, toNumber: number };
    const { status, body } = await ask('/v1/calls/outbound', order);
    if (status !== 202) return void refused.push(`a call: ${status}`);
    const talk = { number, keys, ...(body as { callId: string; sessionId: string }) };
    out.push(talk);
    await line.over(talk);
  };
  const callIn = async () => {
    for (const { sipPort } of withRole('media')) {
      const end = await people.carrier.phones.call({
        trunk: trunkTo(sipPort),
        fromNumber: newNumber(),
        toNumber: line.number,
        how: pressing(keys),
      });
      // A carrier tries its next route after 503 and after a timeout.
      if (end.outcome === 'trunk_error' || end.outcome === 'unreachable') continue;
      came.push(end);
      return;
    }
    refused.push('a call that came in: no node took it');
  };
  const chat = async (client: number) => {
    const sessionId = `chat-${client}`;
    const asked = chats.get(sessionId) ?? [];
    chats.set(sessionId, asked);
    const content = `question ${asked.length}`;
    const request = { messages: [{ role: 'user', content }] };
    const { status } = await ask(`${line.path}/chat/completions`, request, { 'x-session-id': sessionId });
    if (status !== 200) return void refused.push(`a chat: ${status}`);
    asked.push(content);
    chatsDone += 1;
    await sleep(CHAT_PAUSE_MS);
  };
  const again = async (work: () => Promise<void>) => {
    while (!isStopping) await work();
  };
  const call = (work: () => Promise<void>) => async () => {
    running += 1;
    await work();
    running -= 1;
    done += 1;
  };
  const everything = Promise.all([
    ...Array.from({ length: callsOut }, () => again(call(callOut))),
    ...Array.from({ length: callsIn }, () => again(call(callIn))),
    ...Array.from({ length: CHAT_CLIENTS }, (_, client) => again(() => chat(client))),
  ]);
  everything.catch(() => undefined); // `stop` rethrows it

  return {
    get callsRunning() {
      return running;
    },
    get callsDone() {
      return done;
    },
    get chatsDone() {
      return chatsDone;
    },
    async stop() {
      isStopping = true;
      await everything;
    },
    async expectWhole() {
      expect(refused).toEqual([]);
      for (const talk of out) await expectWhole(line, talk, people.seen(talk.number));
      expect(new Set(came.map(({ outcome }) => outcome))).toEqual(
        new Set(callsIn > 0 ? ['local_hangup'] : []),
      );
      await expectInbound(rig, came.length);
      for (const [sessionId, asked] of chats) {
        const { body } = await line.api('GET', `/session-history/${sessionId}`);
        const words = (body.messages as { role: string; content: string }[])
          .filter(({ role }) => role === 'user')
          .map(({ content }) => content);
        expect(words).toEqual(asked);
      }
    },
  };
}

async function expectInbound({ line, webhooks }: Rig, count: number): Promise<void> {
  if (count === 0) return;
  const { body } = await line.api('GET', '/calls?direction=inbound&limit=100');
  const calls = body.data as { sessionId: string; status: string }[];
  expect(calls.map(({ status }) => status)).toEqual(Array(count).fill('completed'));
  for (const { sessionId } of calls) {
    const told = () => webhooks.of(sessionId).map(({ event }) => event);
    await expect.poll(told, { timeout: 40_000 }).toEqual(ALL_EVENTS);
  }
}

async function post(url: string, key: string, body: object, headers: Record<string, string>) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}
