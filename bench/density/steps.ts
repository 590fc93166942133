import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

import { systemClock } from '../../src/base/values/clock.ts';
import { acceptStream } from '../../src/streams/acceptStream.ts';
import type { CallerBehaviour } from '../calls/caller.ts';
import { ONE_STEP } from '../chat/project.ts';

type StepName = 'media' | 'voice' | 'model';

/** What a call does; each step adds to the one before. */
export interface Step {
  readonly name: StepName;
  readonly what: string;
  readonly pathway: object;
  readonly caller: CallerBehaviour;
  /** Of each order. */
  readonly order: object;
}

const PACKET_BYTES = 160;
const SILENCE = 0xff;
const CUTS_INTO_EACH = 3;

/** The agent asks a silent caller again, for ever. */
const PATIENT = {
  nodes: ONE_STEP.nodes.map(({ data, ...node }) => ({
    ...node,
    data: { ...data, silence: { hangupAfter: 0 } },
  })),
  edges: [],
};

/**
 * @param utterance - What callers say, in µ-law.
 * @param botUrl - Of {@link startEchoBot}.
 */
export function densitySteps(utterance: Uint8Array, botUrl: string): readonly Step[] {
  const silent = { utterance: new Uint8Array(PACKET_BYTES).fill(SILENCE), cutsIntoEach: 0 };
  const media = { url: botUrl, dialect: 'callway' };
  return [
    {
      name: 'media',
      what: 'SIP, RTP both ways, recording, and the audio at a bot that echoes it',
      pathway: ONE_STEP,
      caller: silent,
      order: { media },
    },
    {
      name: 'voice',
      what: 'as before with an agent in place of the bot: it listens to a silent caller and asks again',
      pathway: PATIENT,
      caller: silent,
      order: {},
    },
    {
      name: 'model',
      what: 'a conversation: recognition, answers and speech of scripted models, and interruptions',
      pathway: PATIENT,
      caller: { utterance, cutsIntoEach: CUTS_INTO_EACH },
      order: {},
    },
  ];
}

/** The other end of calls without an agent. */
export async function startEchoBot(): Promise<{ readonly url: string; close(): void }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  const onListenerError = (error: unknown) => console.error(error);
  server.on('connection', async (socket) => {
    const grant = { projectId: 'bench', sessionId: 'bench', dialect: 'callway' as const };
    const stream = await acceptStream(socket, grant, { clock: systemClock, onListenerError });
    stream?.events.on('audio', (samples) => stream.play(samples.slice()));
  });
  await once(server, 'listening');
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}
