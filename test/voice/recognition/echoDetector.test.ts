import { beforeAll, describe, expect, test } from 'vitest';
import { createLocalTextToSpeech } from '../../../src/providers/local/textToSpeech.ts';
import type { VoiceActivityDetection } from '../../../src/providers/ports/voiceActivity.ts';
import { createWebrtcVad } from '../../../src/providers/vad/webrtc.ts';
import { createRandom } from '../../media/signals.ts';
import { recordedSession, saidBy } from '../support/recordedSession.ts';

const LINES = [
  'Thank you for calling. The doctor has time on Monday at nine, or on Thursday.',
  'Your parcel left this morning and will reach you between noon and four.',
];

let activity: VoiceActivityDetection;
let lines: readonly Int16Array[];
let interruption: Int16Array;

beforeAll(async () => {
  activity = await createWebrtcVad();
  const flite = createLocalTextToSpeech();
  const [words = new Int16Array(), ...said] = await Promise.all(
    ['Wait a moment please, I have a question about that.', ...LINES].map((text) => saidBy(flite, text)),
  );
  lines = said;
  // Another voice: the same, faster and higher.
  interruption = Int16Array.from(
    { length: Math.floor(words.length / 1.3) },
    (_, n) => words[Math.round(n * 1.3)] ?? 0,
  );
  await flite.close();
});

interface Line {
  readonly speech: Int16Array;
  readonly echoDelayMs: number;
  readonly echoGainDb: number;
  readonly noiseRms?: number;
  /** When the caller speaks over the agent. */
  readonly cutInAtMs?: number;
}

/** An agent on a line that gives its voice back; whatever is heard is taken for words. */
async function talkOver({ speech, echoDelayMs, echoGainDb, noiseRms = 10, cutInAtMs }: Line, seed: number) {
  const random = createRandom(seed);
  const gain = 10 ** (echoGainDb / 20);
  const delay = echoDelayMs * 8;
  const { report } = await recordedSession({
    activity,
    speech,
    lastsMs: cutInAtMs === undefined ? (speech.length + delay) / 8 + 400 : cutInAtMs + 1800,
    line: (from, agentSide) =>
      Int16Array.from({ length: 160 }, (_, n) => {
        const own = cutInAtMs === undefined ? 0 : (interruption[from + n - cutInAtMs * 8] ?? 0);
        const noise = (random() * 2 - 1) * noiseRms * 1.7;
        return Math.round((agentSide[from + n - delay] ?? 0) * gain + own + noise);
      }),
  });
  return report;
}

const echoes = [-12, -16, -20].flatMap((echoGainDb) =>
  [20, 110, 200].map((echoDelayMs, index) => ({ echoGainDb, echoDelayMs, line: index % 2 })),
);

describe('the agent’s own voice, given back by the line', () => {
  test('stops it in none of 9 calls, at 12 to 20 dB below it and 20 to 200 ms later', async () => {
    const stopped: object[] = [];
    for (const [seed, { line, ...echo }] of echoes.entries()) {
      const { interruptions, falseInterruptions } = await talkOver(
        { speech: lines[line] ?? new Int16Array(), ...echo },
        seed + 1,
      );
      if (interruptions + falseInterruptions > 0)
        stopped.push({ line, ...echo, interruptions, falseInterruptions });
    }
    expect(stopped).toEqual([]);
  });

  test('hides nobody who speaks over it, in 9 calls', async () => {
    const unheard: object[] = [];
    for (const [seed, { line, ...echo }] of echoes.entries()) {
      const cutInAtMs = 800 + 40 * seed;
      const speech = lines[line] ?? new Int16Array();
      const { interruptions } = await talkOver({ speech, ...echo, cutInAtMs }, seed + 1);
      if (interruptions !== 1) unheard.push({ line, ...echo, cutInAtMs, interruptions });
    }
    expect(unheard).toEqual([]);
  });
});
