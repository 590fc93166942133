import { atRate } from '../../../src/media/resample/resampler.ts';
import type { SpeechToText } from '../../../src/providers/ports/speechToText.ts';
import type { TextToSpeech } from '../../../src/providers/ports/textToSpeech.ts';
import type { VoiceActivityDetection } from '../../../src/providers/ports/voiceActivity.ts';
import type { VoiceReport } from '../../../src/voice/voiceReport.ts';
import { createVoiceSessionServer } from '../../../src/voice/voiceSessionServer.ts';
import { type MemoryEngine, memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { ONE_NODE } from './simulatedCall.ts';
import { createSimulatedStream } from './simulatedStream.ts';

const RATE_HZ = 8000;
const FRAME = 160;

export interface RecordedSessionOptions {
  readonly activity: VoiceActivityDetection;
  /** All that the agent ever says, at 8000 Hz. */
  readonly speech: Int16Array;
  /** What the caller's line brings in the 160 samples from this one on; `agentSide` is what it was given so far. */
  readonly line: (from: number, agentSide: Int16Array) => Int16Array;
  readonly lastsMs: number;
  /** What the recogniser makes of whatever it is asked about. */
  readonly words?: string;
}

export interface RecordedSession {
  readonly report: VoiceReport;
  readonly talk: MemoryEngine;
}

/** A talk over real samples and a real detector, on a simulated clock. */
export async function recordedSession(options: RecordedSessionOptions): Promise<RecordedSession> {
  const clock = createSimulatedClock();
  const stream = createSimulatedStream({ clock });
  const talk = memoryEngine({
    model: scriptedModel(() => ({ text: 'Spoken from a recording.' })),
    pathway: ONE_NODE,
    clock,
  });
  const voice = createVoiceSessionServer({
    conversations: talk.engine,
    addEvents: async () => undefined,
    addMessages: async () => undefined,
    speechToText: hearing(options.words ?? 'some words that were heard'),
    textToSpeech: speaking(options.speech),
    activity: options.activity,
    clock,
    onError: (error) => {
      throw error;
    },
  });
  const session = { projectId: PROJECT, sessionId: 's', channel: 'phone' } as const;
  const report = voice.serve(stream, { session });
  for (let from = 0; from < options.lastsMs * 8; from += FRAME) {
    stream.speak(options.line(from, stream.agentSide()));
    await stream.advance(20);
  }
  await stream.hangUp();
  return { report: await report, talk };
}

/** What a speaker says, at 8000 Hz. */
export async function saidBy(speaker: TextToSpeech, text: string): Promise<Int16Array> {
  const pieces: number[] = [];
  for await (const piece of speaker.synthesize({ text }, new AbortController().signal))
    for (const sample of piece) pieces.push(sample);
  return atRate(Int16Array.from(pieces), speaker.sampleRateHz, RATE_HZ);
}

function hearing(text: string): SpeechToText {
  return {
    name: 'eager',
    openStream: () => ({
      push: () => undefined,
      finalize: async () => ({ text }),
      close: () => undefined,
    }),
    close: async () => undefined,
  };
}

function speaking(speech: Int16Array): TextToSpeech {
  return {
    name: 'recorded',
    sampleRateHz: RATE_HZ,
    isCacheable: false,
    async *synthesize() {
      yield speech;
    },
    close: async () => undefined,
  };
}
