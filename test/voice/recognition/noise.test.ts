import { beforeAll, describe, expect, test } from 'vitest';
import { createLocalTextToSpeech } from '../../../src/providers/local/textToSpeech.ts';
import type { VoiceActivityDetection } from '../../../src/providers/ports/voiceActivity.ts';
import { createWebrtcVad } from '../../../src/providers/vad/webrtc.ts';
import { atLevel, type LineNoise, lineNoise, whispered } from '../../support/lineNoise.ts';
import { recordedSession, saidBy } from '../support/recordedSession.ts';

const LEVELS_RMS = [100, 400, 1000];
/** The line before the noise begins, and under everything else. */
const QUIET_RMS = 8;

let activity: VoiceActivityDetection;
/** What the agent says. */
let words: Int16Array;
/** What the caller says; no echo of it. */
let answer: Int16Array;

beforeAll(async () => {
  activity = await createWebrtcVad();
  const flite = createLocalTextToSpeech({ threads: 1 });
  words = await saidBy(flite, 'The weather was bad all over the country.');
  answer = await saidBy(flite, 'I told him that we could not come.');
  await flite.close();
});

interface Line {
  readonly caller?: Int16Array;
  readonly callerAtMs?: number;
  readonly noise: Int16Array;
  readonly noiseAtMs?: number;
  readonly lastsMs: number;
}

/** The agent says one sentence; whatever is taken for speech of the caller's is taken for words. */
async function talkAmid({ caller, callerAtMs = 0, noise, noiseAtMs = 0, lastsMs }: Line) {
  const quiet = lineNoise('white', { rms: QUIET_RMS, samples: lastsMs * 8, seed: 99 });
  const { report } = await recordedSession({
    activity,
    speech: words,
    lastsMs,
    line: (from) =>
      Int16Array.from({ length: 160 }, (_, n) => {
        const at = from + n;
        return (quiet[at] ?? 0) + (noise[at - noiseAtMs * 8] ?? 0) + (caller?.[at - callerAtMs * 8] ?? 0);
      }),
  });
  const answered = report.turns.filter(({ kind }) => kind === 'words').length;
  return { answered, interruptions: report.interruptions, falseInterruptions: report.falseInterruptions };
}

const seconds = (kind: LineNoise, rms: number, count: number, seed = 1) =>
  lineNoise(kind, { rms, samples: 8000 * count, seed, voices: [words] });

const NOTHING = { answered: 0, interruptions: 0, falseInterruptions: 0 };

describe('a line’s noise is nobody’s turn, and does not stop the agent', () => {
  test.each<LineNoise>(['white', 'pink', 'hum', 'fan', 'babble'])(
    '%s that is there from the beginning',
    async (kind) => {
      for (const rms of kind === 'babble' ? [100] : LEVELS_RMS)
        expect([rms, await talkAmid({ noise: seconds(kind, rms, 4), lastsMs: 4000 })]).toEqual([
          rms,
          NOTHING,
        ]);
    },
  );

  test.each<LineNoise>(['white', 'hum'])('%s that begins while the agent speaks', async (kind) => {
    for (const rms of LEVELS_RMS) {
      const line = { noise: seconds(kind, rms, 3), noiseAtMs: 800, lastsMs: 3000 };
      expect([rms, await talkAmid(line)]).toEqual([rms, NOTHING]);
    }
  });

  test('pink noise that begins while the agent speaks, but for one time in ten', async () => {
    let stopped = 0;
    for (let seed = 1; seed <= 10; seed++) {
      const line = { noise: seconds('pink', 400, 2, seed), noiseAtMs: 800, lastsMs: 2200 };
      const { interruptions, falseInterruptions } = await talkAmid(line);
      stopped += interruptions + falseInterruptions;
    }
    expect(stopped).toBeLessThanOrEqual(1);
  });

  test.each<LineNoise>(['white', 'pink', 'hum', 'fan'])(
    '%s that begins while nobody speaks',
    async (kind) => {
      const noiseAtMs = words.length / 8 + 300;
      const line = { noise: seconds(kind, 400, 3), noiseAtMs, lastsMs: noiseAtMs + 1500 };
      expect(await talkAmid(line)).toEqual(NOTHING);
    },
  );
});

describe('a caller is heard', () => {
  const made = (make: () => Int16Array) => make;
  test.each([
    ['who speaks softly', made(() => atLevel(answer, 100)), 'white', QUIET_RMS],
    ['who whispers', made(() => whispered(answer, 150)), 'white', QUIET_RMS],
    ['amid a hiss', made(() => atLevel(answer, 2000)), 'white', 400],
    ['beside a fan', made(() => atLevel(answer, 2000)), 'fan', 400],
  ] as const)('%s, over the agent and after it', async (_, caller, kind, rms) => {
    const noise = seconds(kind, rms, 9);
    const over = await talkAmid({ caller: caller(), callerAtMs: 700, noise, lastsMs: 4500 });
    expect(over).toMatchObject({ answered: 1, interruptions: 1 });
    const callerAtMs = words.length / 8 + 600;
    const after = await talkAmid({ caller: caller(), callerAtMs, noise, lastsMs: callerAtMs + 4000 });
    expect(after).toMatchObject({ answered: 1, interruptions: 0 });
  });

  test('who speaks before the agent does, and at once', async () => {
    const noise = seconds('white', QUIET_RMS, 1);
    for (const caller of [atLevel(answer, 2000), whispered(answer, 150)])
      expect(await talkAmid({ caller: caller.subarray(1000), noise, lastsMs: 5000 })).toMatchObject({
        answered: 1,
      });
  });
});
