import type { SimulatedCall } from '../support/simulatedCall.ts';

const FRAME_MS = 20;
/** Nobody on the phone should hear nothing for longer. */
const DEAD_LINE_MS = 10_000;

/** Looks out for silence that nobody ends, while the call is the agent's. */
export interface Watch {
  readonly problems: readonly string[];
  /** Whether the call was the agent's all the time between, in milliseconds of the stream. */
  isAgents(fromMs: number, toMs: number): boolean;
  /** 20 ms have passed. */
  frame(): void;
  close(): void;
}

export function createWatch(call: SimulatedCall): Watch {
  const problems: string[] = [];
  let isAgents = true;
  let isHeld = false;
  let isTransferred = false;
  let quietSinceMs = 0;
  let isTold = false;
  const { events } = call.stream;
  const sign = () => {
    quietSinceMs = call.stream.nowMs();
    isTold = false;
  };
  const unlisten = [
    events.on('dtmf', sign),
    events.on('hold', (hold) => {
      isHeld = hold.isHeld;
    }),
    events.on('transfer', ({ status }) => {
      isAgents = status === 'failed';
      isTransferred = !isAgents;
    }),
  ];
  let commands = 0;
  const handedOver: number[] = [];
  return {
    problems,
    isAgents: (fromMs, toMs) => !handedOver.some((atMs) => atMs >= fromMs && atMs <= toMs + FRAME_MS),
    close() {
      for (const off of unlisten) off();
    },
    frame() {
      for (const { kind } of call.stream.commands.slice(commands)) {
        commands += 1;
        if (kind === 'hangup' || kind === 'transfer') isAgents = false;
        if (kind === 'transfer') isTransferred = true;
      }
      const isHeard = call.isAgentSpeaking() || call.stream.callerAudio().at(-1) !== 0;
      if (isHeard || isHeld || !isAgents) sign();
      if (isTransferred) handedOver.push(call.stream.nowMs());
      const quietMs = call.stream.nowMs() - quietSinceMs;
      if (quietMs <= DEAD_LINE_MS || isTold) return;
      isTold = true;
      problems.push(`silence since ${quietSinceMs} ms`);
    },
  };
}
