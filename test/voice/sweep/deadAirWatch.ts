import type { SimulatedCall } from '../support/simulatedCall.ts';

const FRAME_MS = 20;
/** Longest silence of both sides. */
const MAX_SILENCE_MS = 10_000;

/** Watches for dead air while the agent has the call. */
export interface DeadAirWatch {
  readonly problems: readonly string[];
  /** Whether the agent had the call all the time between, in milliseconds of the stream. */
  hadAgent(fromMs: number, toMs: number): boolean;
  /** Call after each frame. */
  onFrame(): void;
  close(): void;
}

export function watchDeadAir(call: SimulatedCall): DeadAirWatch {
  const problems: string[] = [];
  let hasAgent = true;
  let isHeld = false;
  let isTransferred = false;
  let silentSinceMs = 0;
  let isReported = false;
  const { events } = call.stream;
  const onSound = () => {
    silentSinceMs = call.stream.nowMs();
    isReported = false;
  };
  const unlisten = [
    events.on('dtmf', onSound),
    events.on('hold', (hold) => {
      isHeld = hold.isHeld;
    }),
    events.on('transfer', ({ status }) => {
      hasAgent = status === 'failed';
      isTransferred = !hasAgent;
    }),
  ];
  let commands = 0;
  const transferredAtMs: number[] = [];
  return {
    problems,
    hadAgent: (fromMs, toMs) => !transferredAtMs.some((atMs) => atMs >= fromMs && atMs <= toMs + FRAME_MS),
    close() {
      for (const off of unlisten) off();
    },
    onFrame() {
      for (const { kind } of call.stream.commands.slice(commands)) {
        commands += 1;
        if (kind === 'hangup' || kind === 'transfer') hasAgent = false;
        if (kind === 'transfer') isTransferred = true;
      }
      const isHeard = call.isAgentSpeaking() || call.stream.callerAudio().at(-1) !== 0;
      if (isHeard || isHeld || !hasAgent) onSound();
      if (isTransferred) transferredAtMs.push(call.stream.nowMs());
      const silenceMs = call.stream.nowMs() - silentSinceMs;
      if (silenceMs <= MAX_SILENCE_MS || isReported) return;
      isReported = true;
      problems.push(`dead air since ${silentSinceMs} ms`);
    },
  };
}
