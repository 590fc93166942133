import { Gauge, type Registry } from 'prom-client';

import type { RunningVoiceThread } from '../../voice/threads/voiceThreads.ts';

/** Gauges of each voice thread. Those of Node itself, such as `nodejs_eventloop_lag_p99_seconds`, are the main thread's. */
export function registerVoiceThreadMetrics(
  registry: Registry,
  threads: () => readonly RunningVoiceThread[],
): void {
  const gauge = (name: string, help: string, value: (thread: RunningVoiceThread) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['thread'],
      registers: [registry],
      collect() {
        this.reset();
        for (const thread of threads()) this.set({ thread: String(thread.number) }, value(thread));
      },
    });
  gauge('callway_voice_thread_sessions', 'Voice sessions of each voice thread.', ({ sessions }) => sessions);
  gauge(
    'callway_voice_thread_lag_p99_seconds',
    'Event-loop delay of each voice thread within the last second, 99th percentile.',
    ({ delay }) => delay.p99Ms / 1000,
  );
  gauge(
    'callway_voice_thread_lag_max_seconds',
    'Longest event-loop delay of each voice thread within the last second.',
    ({ delay }) => delay.maxMs / 1000,
  );
}
