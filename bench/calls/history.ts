import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

import type { BenchProject } from '../chat/project.ts';
import { scriptedMs } from './models.ts';

/** A call that was requested. */
export interface Contact {
  readonly toNumber: string;
  /** On this process's clock, in ms. */
  readonly askedMs: number;
  readonly callId: string;
  readonly sessionId: string;
}

export interface CallFigures {
  /** Calls that ended before they were hung up. */
  readonly failed: number;
  /** The gateway's part of each answered turn. */
  readonly ownMs: readonly number[];
  /** Each answered turn, by parts. */
  readonly parts: readonly Readonly<Record<string, number>>[];
  /** From the decision to interrupt to the last packet of the interrupted answer. */
  readonly stopMs: readonly number[];
}

const END_WAIT_MS = 15_000;
const POLL_MS = 200;

const shownCall = z.object({ status: z.string(), endReason: z.string().nullable() });
const history = z.object({
  messages: z.array(
    z.object({
      content: z.string().nullable(),
      generatedText: z.string().optional(),
      latencyParts: z.record(z.string(), z.number()).optional(),
    }),
  ),
  events: z.array(z.object({ type: z.string(), data: z.record(z.string(), z.unknown()) })),
});

/** Hangs up all calls, and reads their history. */
export async function readCalls(project: BenchProject, contacts: readonly Contact[]): Promise<CallFigures> {
  const all = await Promise.all(contacts.map((contact) => readCall(project, contact)));
  for (const { hasFailed, end } of all) if (hasFailed) console.error(`a call failed: ${end}`);
  return {
    failed: all.filter(({ hasFailed }) => hasFailed).length,
    ownMs: all.flatMap(({ turns }) => turns.map(({ ownMs }) => ownMs)),
    parts: all.flatMap(({ turns }) => turns.map(({ parts }) => parts)),
    stopMs: all.flatMap(({ stopMs }) => stopMs),
  };
}

async function readCall(project: BenchProject, { callId, sessionId }: Contact) {
  await project.call('POST', `/calls/${callId}/hangup`);
  const read = async () => shownCall.parse(await project.call('GET', `/calls/${callId}`));
  let call = await read();
  for (let waited = 0; call.status === 'in_progress' && waited < END_WAIT_MS; waited += POLL_MS) {
    await sleep(POLL_MS);
    call = await read();
  }
  const { messages, events } = history.parse(await project.call('GET', `/session-history/${sessionId}`));
  return {
    end: `${call.status} ${call.endReason}`,
    hasFailed: call.status !== 'completed' || call.endReason !== 'api_hangup',
    turns: messages.flatMap(({ content, generatedText, latencyParts: parts }) =>
      parts ? [{ parts, ownMs: ownPart(parts, scriptedMs(generatedText ?? content ?? '')) }] : [],
    ),
    stopMs: events.flatMap(({ type, data }) =>
      type === 'barge_in' && typeof data.stopMs === 'number' ? [data.stopMs] : [],
    ),
  };
}

/** From the moment the end of the caller's turn is certain, without the models' delays. */
function ownPart(parts: Readonly<Record<string, number>>, scripted: number): number {
  const { transcriptionMs = 0, answerMs = 0, speechMs = 0, playoutMs = 0 } = parts;
  return transcriptionMs + answerMs + speechMs + playoutMs - scripted;
}
