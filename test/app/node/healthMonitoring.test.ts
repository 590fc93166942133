import { expect, test } from 'vitest';
import { createProviderHealth, logHealthChanges } from '../../../src/app/node/healthMonitoring.ts';
import { unavailable } from '../../../src/base/errors.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

test('An outage logs two lines: its start with the reason and its end with the duration', () => {
  const lines: string[] = [];
  const logger = createLogger('error', { write: (line: string) => void lines.push(line) });
  const { onChange } = logHealthChanges('database', logger, createSimulatedClock());
  onChange({ isDown: true, reason: unavailable('database', new Error('connect ECONNREFUSED')) });
  onChange({ isDown: false, downMs: 1_200 });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      level: 50,
      time: expect.any(String),
      part: 'database',
      reason: 'connect ECONNREFUSED',
      msg: 'dependency unavailable; requests that need it are rejected',
    },
    {
      level: 50,
      time: expect.any(String),
      part: 'database',
      downMs: 1_200,
      msg: 'dependency available again',
    },
  ]);
});

test('A provider that fails logs two lines: its start with all of the reason and its end with the duration', () => {
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line: string) => void lines.push(line) });
  const clock = createSimulatedClock();
  const settings = { CHAT_PROVIDER: 'local', STT_PROVIDER: 'deepgram', TTS_PROVIDER: 'cartesia' } as const;
  const health = createProviderHealth(settings, logger, clock);
  const message = 'deepgram refuses the request (INVALID_AUTH): unknown project';
  for (let n = 0; n < 3; n++) health.failed('transcription', 'deepgram', message);
  clock.advance(4000);
  health.worked('transcription', 'deepgram');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 50, provider: 'deepgram', message, msg: 'provider fails; readyz shows it as degraded' },
    { level: 40, provider: 'deepgram', degradedMs: 4000, msg: 'provider works again' },
  ]);
  expect(Object.keys(health.states())).toEqual(['cartesia', 'deepgram', 'local']);
});
