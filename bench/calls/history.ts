import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

import type { BenchProject } from '../chat/project.ts';
import { type ModelTimes, modelMs } from './models.ts';

/** A call that was requested. */
export interface Contact {
  readonly toNumber: string;
  /** On this process's clock, in ms. */
  readonly askedMs: number;
  readonly callId: string;
  readonly sessionId: string;
}

/** An answered turn. */
interface TurnFigures {
  /** On the wall clock. */
  readonly atMs: number;
  /** The gateway's part: from the moment the end of the caller's turn is certain, without what the models took. */
  readonly ownMs: number;
  /** As the history names them. */
  readonly parts: z.infer<typeof latencyParts>;
}

export interface CallFigures {
  /** Calls that ended before they were hung up. */
  readonly failed: number;
  readonly turns: readonly TurnFigures[];
  /** From the decision to interrupt to the last packet of the interrupted answer. */
  readonly stops: readonly { readonly atMs: number; readonly stopMs: number }[];
}

const END_WAIT_MS = 15_000;
const POLL_MS = 200;

const shownCall = z.object({ status: z.string(), endReason: z.string().nullable() });
const latencyParts = z.object({ preemptive: z.string().optional() }).catchall(z.number());
const history = z.object({
  messages: z.array(
    z.object({
      role: z.string(),
      content: z.string().nullable(),
      at: z.string(),
      generatedText: z.string().optional(),
      latencyParts: latencyParts.optional(),
    }),
  ),
  events: z.array(z.object({ type: z.string(), at: z.string(), data: z.record(z.string(), z.unknown()) })),
});

/** Hangs up a call, and waits for its end. @returns What is wrong with its end; undefined when nothing is. */
export async function hangUpCall(project: BenchProject, { callId }: Contact): Promise<string | undefined> {
  await project.call('POST', `/calls/${callId}/hangup`);
  const read = async () => shownCall.parse(await project.call('GET', `/calls/${callId}`));
  let call = await read();
  for (let waited = 0; call.status === 'in_progress' && waited < END_WAIT_MS; waited += POLL_MS) {
    await sleep(POLL_MS);
    call = await read();
  }
  const isAsExpected = call.status === 'completed' && call.endReason === 'api_hangup';
  return isAsExpected ? undefined : `${call.status} ${call.endReason}`;
}

/** Reads a call's conversation. */
export async function readCall(
  project: BenchProject,
  { sessionId }: Contact,
  took: ModelTimes,
): Promise<Omit<CallFigures, 'failed'>> {
  const { messages, events } = history.parse(await project.call('GET', `/session-history/${sessionId}`));
  let heard = '';
  const turns: TurnFigures[] = [];
  for (const { role, content, at, generatedText, latencyParts: parts } of messages) {
    if (role === 'user') heard = content ?? '';
    if (!parts) continue;
    const { transcriptionMs = 0, answerMs = 0, speechMs = 0, playoutMs = 0 } = parts;
    const ownMs =
      transcriptionMs +
      answerMs +
      speechMs +
      playoutMs -
      modelMs(took, heard, generatedText ?? content ?? '');
    turns.push({ atMs: Date.parse(at), ownMs, parts });
  }
  const stops = events.flatMap(({ type, at, data }) =>
    type === 'barge_in' && typeof data.stopMs === 'number'
      ? [{ atMs: Date.parse(at), stopMs: data.stopMs }]
      : [],
  );
  return { turns, stops };
}
