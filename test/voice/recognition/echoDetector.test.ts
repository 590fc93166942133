import { beforeAll, describe, expect, test } from 'vitest';
import type { VoiceActivityDetection } from '../../../src/models/ports/voiceActivity.ts';
import { createWebrtcVad } from '../../../src/vendors/fvad/webrtc.ts';
import { createLocalTextToSpeech } from '../../../src/vendors/local/textToSpeech.ts';
import { createRandom } from '../../media/support/signals.ts';
import { recordedSession, speechOf } from '../support/recordedSession.ts';

const LINES = [
  'Thank you for calling. The doctor has time on Monday at nine, or on Thursday.',
  'Your parcel left this morning and will reach you between noon and four.',
];

let voiceActivity: VoiceActivityDetection;
let lines: readonly Int16Array[];
let interruption: Int16Array;

beforeAll(async () => {
  voiceActivity = await createWebrtcVad();
  const flite = createLocalTextToSpeech();
  const [words = new Int16Array(), ...said] = await Promise.all(
    ['Wait a moment please, I have a question about that.', ...LINES].map((text) => speechOf(flite, text)),
  );
  lines = said;
  // The same voice, but faster and higher.
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
  readonly interruptAtMs?: number;
}

/** Runs a session on a line that echoes the agent; every utterance gets a transcript. */
async function sessionOver(
  { speech, echoDelayMs, echoGainDb, noiseRms = 10, interruptAtMs }: Line,
  seed: number,
) {
  const random = createRandom(seed);
  const gain = 10 ** (echoGainDb / 20);
  const delay = echoDelayMs * 8;
  return await recordedSession({
    voiceActivity,
    speech,
    durationMs: interruptAtMs === undefined ? (speech.length + delay) / 8 + 400 : interruptAtMs + 1800,
    line: (from, agentAudio) =>
      Int16Array.from({ length: 160 }, (_, n) => {
        const own = interruptAtMs === undefined ? 0 : (interruption[from + n - interruptAtMs * 8] ?? 0);
        const noise = (random() * 2 - 1) * noiseRms * 1.7;
        return Math.round((agentAudio[from + n - delay] ?? 0) * gain + own + noise);
      }),
  });
}

const echoes = [-12, -16, -20].flatMap((echoGainDb) =>
  [20, 110, 200].map((echoDelayMs, index) => ({ echoGainDb, echoDelayMs, line: index % 2 })),
);

describe('Echo of the agent', () => {
  test('does not interrupt the agent in 9 calls with an echo 12 to 20 dB below it and 20 to 200 ms later', async () => {
    const stopped: object[] = [];
    for (const [seed, { line, ...echo }] of echoes.entries()) {
      const { interruptions, falseInterruptions } = await sessionOver(
        { speech: lines[line] ?? new Int16Array(), ...echo },
        seed + 1,
      );
      if (interruptions + falseInterruptions > 0)
        stopped.push({ line, ...echo, interruptions, falseInterruptions });
    }
    expect(stopped).toEqual([]);
  });

  test('does not hide a caller who speaks over it in 9 calls', async () => {
    const unheard: object[] = [];
    for (const [seed, { line, ...echo }] of echoes.entries()) {
      const interruptAtMs = 800 + 40 * seed;
      const speech = lines[line] ?? new Int16Array();
      const { interruptions } = await sessionOver({ speech, ...echo, interruptAtMs }, seed + 1);
      if (interruptions !== 1) unheard.push({ line, ...echo, interruptAtMs, interruptions });
    }
    expect(unheard).toEqual([]);
  });
});
