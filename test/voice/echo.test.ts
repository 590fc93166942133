import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createResampler } from '../../src/media/resample/resampler.ts';
import { createLocalVoiceActivity } from '../../src/models/local/activity.ts';
import { createFlite } from '../../src/models/local/flite.ts';
import type { SpeechToText } from '../../src/models/speechToText.ts';
import type { TextToSpeech } from '../../src/models/textToSpeech.ts';
import type { VoiceActivity } from '../../src/models/voiceActivity.ts';
import { createVoice } from '../../src/voice/voice.ts';
import { createRandom } from '../media/signals.ts';
import { memoryConversations, PROJECT } from '../support/memoryConversations.ts';
import { scriptedModel } from '../support/scriptedModel.ts';
import { ONE_NODE } from '../support/simulatedCall.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { createSimulatedStream } from '../support/simulatedStream.ts';

const RATE_HZ = 8000;
const FRAME = 160;
const LINES = [
  'Thank you for calling. The doctor has time on Monday at nine, or on Thursday.',
  'Your parcel left this morning and will reach you between noon and four.',
];

let activity: VoiceActivity;
const lines: Int16Array[] = [];
let interruption: Int16Array;

async function said(text: string, flite: TextToSpeech): Promise<Int16Array> {
  const pieces: number[] = [];
  for await (const piece of flite.speak({ text }, new AbortController().signal))
    for (const sample of piece) pieces.push(sample);
  const resampler = createResampler(flite.sampleRateHz, RATE_HZ, pieces.length);
  const out = new Int16Array(resampler.maxOutput(pieces.length));
  return out.subarray(0, resampler.process(Int16Array.from(pieces), out));
}

beforeAll(async () => {
  activity = await createLocalVoiceActivity();
  const flite = createFlite({ threads: 1 });
  for (const line of LINES) lines.push(await said(line, flite));
  // Another voice: the same, faster and higher.
  const words = await said(
    'Wait a moment please, I have a question about that, and it will not take long.',
    flite,
  );
  interruption = Int16Array.from(
    { length: Math.floor(words.length / 1.3) },
    (_, n) => words[Math.round(n * 1.3)] ?? 0,
  );
  await flite.close();
});
afterAll(() => {
  lines.length = 0;
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
  const clock = createSimulatedClock();
  const stream = createSimulatedStream({ clock });
  const hearsWords: SpeechToText = {
    name: 'eager',
    open: () => ({
      push: () => undefined,
      transcribe: async () => ({ text: 'some words that were heard' }),
      close: () => undefined,
    }),
    close: async () => undefined,
  };
  const speaker: TextToSpeech = {
    name: 'recorded',
    sampleRateHz: RATE_HZ,
    isCacheable: false,
    async *speak() {
      yield speech;
    },
    close: async () => undefined,
  };
  const talk = memoryConversations({
    model: scriptedModel(() => ({ text: 'Spoken from a recording.' })),
    pathway: ONE_NODE,
    clock,
  });
  const voice = createVoice({
    conversations: talk.conversations,
    addEvents: async () => undefined,
    speechToText: hearsWords,
    textToSpeech: speaker,
    activity,
    clock,
    onError: (error) => {
      throw error;
    },
  });
  const session = { projectId: PROJECT, sessionId: 's', channel: 'phone' } as const;
  const report = voice.serve(stream, { session });
  const random = createRandom(seed);
  const gain = 10 ** (echoGainDb / 20);
  const delay = (echoDelayMs * RATE_HZ) / 1000;
  const lastsMs = cutInAtMs === undefined ? (speech.length + delay) / 8 + 400 : cutInAtMs + 1800;
  const frames = Math.ceil(lastsMs / 20);
  for (let n = 0; n < frames; n++) {
    const agent = stream.agentSide();
    const begin = n * FRAME - delay;
    const frame = new Int16Array(FRAME);
    for (let k = 0; k < FRAME; k++) {
      const own = cutInAtMs === undefined ? 0 : (interruption[n * FRAME + k - cutInAtMs * 8] ?? 0);
      const noise = (random() * 2 - 1) * noiseRms * 1.7;
      frame[k] = Math.round((agent[begin + k] ?? 0) * gain + own + noise);
    }
    stream.speak(frame);
    await stream.advance(20);
  }
  await stream.hangUp();
  return await report;
}

const echoes = [-12, -16, -20].flatMap((echoGainDb) =>
  [20, 110, 200].map((echoDelayMs, index) => ({ echoGainDb, echoDelayMs, line: index % 2 })),
);

describe('the agent’s own voice, given back by the line', () => {
  test('stops it in none of 9 calls, at 12 to 20 dB below it and 20 to 200 ms later', async () => {
    const stopped: object[] = [];
    for (const [seed, { line, ...echo }] of echoes.entries()) {
      const { bargeIns, falseStops } = await talkOver(
        { speech: lines[line] ?? new Int16Array(), ...echo },
        seed + 1,
      );
      if (bargeIns + falseStops > 0) stopped.push({ line, ...echo, bargeIns, falseStops });
    }
    expect(stopped).toEqual([]);
  });

  test('hides nobody who speaks over it, in 9 calls', async () => {
    const unheard: object[] = [];
    for (const [seed, { line, ...echo }] of echoes.entries()) {
      const cutInAtMs = 800 + 40 * seed;
      const speech = lines[line] ?? new Int16Array();
      const { bargeIns } = await talkOver({ speech, ...echo, cutInAtMs }, seed + 1);
      if (bargeIns !== 1) unheard.push({ line, ...echo, cutInAtMs, bargeIns });
    }
    expect(unheard).toEqual([]);
  });
});
