import { UsageTally } from '../../../src/agents/cost/usage.ts';
import { atRate } from '../../../src/media/resample/resampler.ts';
import type { SpeechToText } from '../../../src/models/ports/speechToText.ts';
import type { TextToSpeech } from '../../../src/models/ports/textToSpeech.ts';
import type { VoiceActivityDetection } from '../../../src/models/ports/voiceActivity.ts';
import { createSpeechCache, SpeechSynthesis } from '../../../src/voice/speech/speechSynthesis.ts';
import { type VoiceReport, VoiceSession } from '../../../src/voice/voiceSession.ts';
import { candidate } from '../../models/support/candidate.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { ONE_NODE } from './simulatedCall.ts';
import { createSimulatedStream } from './simulatedStream.ts';

const RATE_HZ = 8000;
const FRAME = 160;

export interface RecordedSessionOptions {
  readonly voiceActivity: VoiceActivityDetection;
  /** Whatever the agent says, at 8000 Hz. */
  readonly speech: Int16Array;
  /** The caller's 160 samples from this position on; `agentAudio` is what the caller has heard so far. */
  readonly line: (from: number, agentAudio: Int16Array) => Int16Array;
  readonly durationMs: number;
}

/** A voice session over real audio and a real detector, on a simulated clock. Every utterance has the same transcript. */
export async function recordedSession(options: RecordedSessionOptions): Promise<VoiceReport> {
  const clock = createSimulatedClock();
  const stream = createSimulatedStream({ clock });
  const model = scriptedModel(() => ({ text: 'Spoken from a recording.' }));
  const { engine } = memoryEngine({ model, pathway: ONE_NODE, clock });
  const onError = (error: unknown) => {
    throw error;
  };
  const synthesis = new SpeechSynthesis(
    {
      voices: [candidate(speaking(options.speech))],
      cache: createSpeechCache(),
      clock,
      onFailure: onError,
    },
    RATE_HZ,
  );
  const session = new VoiceSession(
    {
      stream,
      engine,
      historyStore: {
        addEvents: async () => undefined,
        addMessages: async () => undefined,
        addHeard: async () => undefined,
        addUsage: async () => undefined,
      },
      speech: {
        speechToText: transcribing('some words that were heard'),
        synthesis,
        tally: new UsageTally(),
      },
      voiceActivity: options.voiceActivity,
      clock,
      onError,
    },
    { session: { projectId: PROJECT, sessionId: 's', channel: 'phone' } },
  );
  const report = session.run();
  for (let from = 0; from < options.durationMs * 8; from += FRAME) {
    stream.speak(options.line(from, stream.agentAudio()));
    await stream.advance(20);
  }
  await stream.hangUp();
  return await report;
}

/** A text's speech at 8000 Hz. */
export async function speechOf(vendor: TextToSpeech, text: string): Promise<Int16Array> {
  const samples: number[] = [];
  for await (const piece of vendor.synthesize({ text }, new AbortController().signal))
    for (const sample of piece) samples.push(sample);
  return atRate(Int16Array.from(samples), vendor.sampleRateHz, RATE_HZ);
}

function transcribing(text: string): SpeechToText {
  return {
    name: 'constant',
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
