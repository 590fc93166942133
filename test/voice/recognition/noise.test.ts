import { beforeAll, describe, expect, test } from 'vitest';
import type { VoiceActivityDetection } from '../../../src/models/ports/voiceActivity.ts';
import { createWebrtcVad } from '../../../src/vendors/fvad/webrtc.ts';
import { createLocalTextToSpeech } from '../../../src/vendors/local/textToSpeech.ts';
import { atLevel, type LineNoise, lineNoise, whispered } from '../../support/lineNoise.ts';
import { recordedSession, speechOf } from '../support/recordedSession.ts';

const LEVELS_RMS = [100, 400, 1000];
/** Of the line under everything else. */
const QUIET_RMS = 8;

let voiceActivity: VoiceActivityDetection;
/** What the agent says. */
let agentSpeech: Int16Array;
/** What the caller says. */
let callerSpeech: Int16Array;

beforeAll(async () => {
  voiceActivity = await createWebrtcVad();
  const flite = createLocalTextToSpeech({ threads: 1 });
  agentSpeech = await speechOf(flite, 'The weather was bad all over the country.');
  callerSpeech = await speechOf(flite, 'I told him that we could not come.');
  await flite.close();
});

interface Line {
  readonly caller?: Int16Array;
  readonly callerAtMs?: number;
  readonly noise: Int16Array;
  readonly noiseAtMs?: number;
  readonly durationMs: number;
}

/** The agent says one sentence; every utterance gets a transcript. */
async function sessionAmid({ caller, callerAtMs = 0, noise, noiseAtMs = 0, durationMs }: Line) {
  const quiet = lineNoise('white', { rms: QUIET_RMS, samples: durationMs * 8, seed: 99 });
  const report = await recordedSession({
    voiceActivity,
    speech: agentSpeech,
    durationMs,
    line: (from) =>
      Int16Array.from({ length: 160 }, (_, n) => {
        const at = from + n;
        return (quiet[at] ?? 0) + (noise[at - noiseAtMs * 8] ?? 0) + (caller?.[at - callerAtMs * 8] ?? 0);
      }),
  });
  const answered = report.turns.filter(({ kind }) => kind === 'user_message').length;
  return { answered, interruptions: report.interruptions, falseInterruptions: report.falseInterruptions };
}

const seconds = (kind: LineNoise, rms: number, count: number, seed = 1) =>
  lineNoise(kind, { rms, samples: 8000 * count, seed, voices: [agentSpeech] });

const NOTHING = { answered: 0, interruptions: 0, falseInterruptions: 0 };

describe('Line noise neither gets an answer nor interrupts the agent', () => {
  test.each<LineNoise>(['white', 'pink', 'hum', 'fan', 'babble'])('%s from the start', async (kind) => {
    for (const rms of kind === 'babble' ? [100] : LEVELS_RMS)
      expect([rms, await sessionAmid({ noise: seconds(kind, rms, 4), durationMs: 4000 })]).toEqual([
        rms,
        NOTHING,
      ]);
  });

  test.each<LineNoise>(['white', 'hum'])('%s that starts while the agent speaks', async (kind) => {
    for (const rms of LEVELS_RMS) {
      const line = { noise: seconds(kind, rms, 3), noiseAtMs: 800, durationMs: 3000 };
      expect([rms, await sessionAmid(line)]).toEqual([rms, NOTHING]);
    }
  });

  test('pink noise that starts while the agent speaks, in nine of ten calls', async () => {
    let stopped = 0;
    for (let seed = 1; seed <= 10; seed++) {
      const line = { noise: seconds('pink', 400, 2, seed), noiseAtMs: 800, durationMs: 2200 };
      const { interruptions, falseInterruptions } = await sessionAmid(line);
      stopped += interruptions + falseInterruptions;
    }
    expect(stopped).toBeLessThanOrEqual(1);
  });

  test.each<LineNoise>(['white', 'pink', 'hum', 'fan'])('%s that starts in silence', async (kind) => {
    const noiseAtMs = agentSpeech.length / 8 + 300;
    const line = { noise: seconds(kind, 400, 3), noiseAtMs, durationMs: noiseAtMs + 1500 };
    expect(await sessionAmid(line)).toEqual(NOTHING);
  });
});

describe('A caller gets an answer', () => {
  const made = (make: () => Int16Array) => make;
  test.each([
    ['speaking softly', made(() => atLevel(callerSpeech, 100)), 'white', QUIET_RMS],
    ['whispering', made(() => whispered(callerSpeech, 150)), 'white', QUIET_RMS],
    ['with hiss on the line', made(() => atLevel(callerSpeech, 2000)), 'white', 400],
    ['beside a fan', made(() => atLevel(callerSpeech, 2000)), 'fan', 400],
  ] as const)('%s, over the agent and after it', async (_, caller, kind, rms) => {
    const noise = seconds(kind, rms, 9);
    const over = await sessionAmid({ caller: caller(), callerAtMs: 700, noise, durationMs: 4500 });
    expect(over).toMatchObject({ answered: 1, interruptions: 1 });
    const callerAtMs = agentSpeech.length / 8 + 600;
    const after = await sessionAmid({ caller: caller(), callerAtMs, noise, durationMs: callerAtMs + 4000 });
    expect(after).toMatchObject({ answered: 1, interruptions: 0 });
  });

  test('speaking from the first sample of the call', async () => {
    const noise = seconds('white', QUIET_RMS, 1);
    for (const caller of [atLevel(callerSpeech, 2000), whispered(callerSpeech, 150)])
      expect(await sessionAmid({ caller: caller.subarray(1000), noise, durationMs: 5000 })).toMatchObject({
        answered: 1,
      });
  });
});
