import { expect, test } from 'vitest';
import { createCodecRegistry } from '../../../src/media/codecs/registry.ts';
import { warmUp } from '../../../src/media/engine/warmUp.ts';

test('The warm-up call sends, hears and records a minute and a half, and loses nothing', async () => {
  const { packetsSent, quality, counters, recording } = await warmUp(createCodecRegistry());
  expect(packetsSent).toBe(4500);
  // The first packet of a source is not counted before the second.
  expect(quality).toMatchObject({ packetsReceived: 4499, packetsLost: 0 });
  expect(counters).toMatchObject({ foreignSourcePackets: 0, callerFramesDropped: 0, playoutUnderruns: 0 });
  expect(recording).toMatchObject({ durationMs: 90_000 });
});
