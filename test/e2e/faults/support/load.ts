import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

import { trunkTo } from '../../../../src/app/simulator/simulator.ts';
import { newNumber, type PlacedCall } from '../../phone/support/line.ts';
import { ALL_EVENTS } from '../../phone/support/webhooks.ts';
import type { Node } from './cluster.ts';
import { sendsDigits } from './people.ts';
import { expectComplete, type Rig, type RunningCall } from './rig.ts';

const CHAT_CLIENTS = 3;
/** Pause between two chats of one client, since this machine runs six call lines too. */
const CHAT_PAUSE_MS = 50;
const RETRY_DELAY_MS = 100;
const CHAT_ATTEMPTS = 100;

/** Refusals of a node that is not ready; a load balancer sends the request to another one. */
const NOT_READY = ['node_starting', 'node_migrating', 'node_draining'];

/** Outbound calls, inbound calls and chats, spread over the nodes as a load balancer would. */
export interface Load {
  readonly callsRunning: number;
  readonly callsDone: number;
  readonly chatsDone: number;
  /** Starts nothing new, and waits for running calls and chats to end. */
  stop(): Promise<void>;
  /** Fails when a call was dropped, an event is missing, repeated or out of order, or a chat was refused or lost. */
  expectComplete(): Promise<void>;
}

export interface LoadOptions {
  readonly callsOut: number;
  readonly callsIn: number;
  /** DTMF digits that the person sends in each call. */
  readonly digitCount: number;
}

export function startLoad(rig: Rig, { callsOut, callsIn, digitCount }: LoadOptions): Load {
  const { cluster, line, people } = rig;
  const withRole = (role: Node['roles'][number]) => cluster.nodes.filter(({ roles }) => roles.includes(role));
  const outbound: RunningCall[] = [];
  const inboundEnds: { readonly outcome: string }[] = [];
  const refused: string[] = [];
  const chats = new Map<string, string[]>();
  let running = 0;
  let done = 0;
  let chatsDone = 0;
  let isStopping = false;

  /** Tries one API node after another until one accepts the request. */
  const requestAnyApi = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const apis = withRole('api');
    for (let attempt = 0; attempt < CHAT_ATTEMPTS; attempt += 1) {
      const { url } = apis[attempt % apis.length] ?? cluster.node('api');
      const answer = await post(url + path, line.developerKey, body, headers).catch(() => undefined);
      const isReady = answer !== undefined && !NOT_READY.includes((answer.body as { code: string }).code);
      if (isReady) return answer;
      await sleep(RETRY_DELAY_MS);
    }
    throw new Error(`no API node accepted ${path}`);
  };
  const callOut = async () => {
    const number = people.answering(digitCount);
    const order = { projectId: line.id, fromNumber: line.number, toNumber: number };
    const { status, body } = await requestAnyApi('/v1/calls/outbound', order);
    if (status !== 202) return void refused.push(`outbound call: ${status}`);
    const call = { number, digitCount, ...(body as { callId: string; sessionId: string }) };
    outbound.push(call);
    await endOf(call);
  };
  /** The API node that is asked may be the one that restarts: its connections fail then, and the call goes on. */
  const endOf = async (call: PlacedCall): Promise<void> => {
    try {
      await line.waitForEnd(call);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      await sleep(RETRY_DELAY_MS);
      await endOf(call);
    }
  };
  const callIn = async () => {
    for (const { sipPort } of withRole('media')) {
      const end = await people.carrier.phones.call({
        trunk: trunkTo(sipPort),
        fromNumber: newNumber(),
        toNumber: line.number,
        how: sendsDigits(digitCount),
      });
      // A carrier tries its next route after 503 and after a timeout.
      if (end.outcome === 'trunk_error' || end.outcome === 'unreachable') continue;
      inboundEnds.push(end);
      return;
    }
    refused.push('inbound call: every node refused it');
  };
  const chat = async (client: number) => {
    const sessionId = `chat-${client}`;
    const asked = chats.get(sessionId) ?? [];
    chats.set(sessionId, asked);
    const content = `question ${asked.length}`;
    const request = { messages: [{ role: 'user', content }] };
    const { status } = await requestAnyApi(`${line.path}/chat/completions`, request, {
      'x-session-id': sessionId,
    });
    if (status !== 200) return void refused.push(`chat: ${status}`);
    asked.push(content);
    chatsDone += 1;
    await sleep(CHAT_PAUSE_MS);
  };
  const repeatUntilStopped = async (work: () => Promise<void>) => {
    while (!isStopping) await work();
  };
  const countCall = (work: () => Promise<void>) => async () => {
    running += 1;
    await work();
    running -= 1;
    done += 1;
  };
  const allWork = Promise.all([
    ...Array.from({ length: callsOut }, () => repeatUntilStopped(countCall(callOut))),
    ...Array.from({ length: callsIn }, () => repeatUntilStopped(countCall(callIn))),
    ...Array.from({ length: CHAT_CLIENTS }, (_, client) => repeatUntilStopped(() => chat(client))),
  ]);
  allWork.catch(() => undefined); // `stop` rethrows it

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
      await allWork;
    },
    async expectComplete() {
      expect(refused).toEqual([]);
      for (const call of outbound) await expectComplete(line, call, people.seen(call.number));
      expect(new Set(inboundEnds.map(({ outcome }) => outcome))).toEqual(
        new Set(callsIn > 0 ? ['local_hangup'] : []),
      );
      await expectInbound(rig, inboundEnds.length);
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
    const events = () => webhooks.forSession(sessionId).map(({ event }) => event);
    await expect.poll(events, { timeout: 40_000 }).toEqual(ALL_EVENTS);
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
