import { systemClock } from '../../src/base/values/clock.ts';
import { WrittenText } from '../../src/conversation/speech/writtenText.ts';
import { createDial } from '../../src/models/sockets/dial.ts';
import { createCustomSpeechToText } from '../../src/vendors/custom/speechToText.ts';
import { createCustomTextToSpeech } from '../../src/vendors/custom/textToSpeech.ts';
import { createLocalTextToSpeech } from '../../src/vendors/local/textToSpeech.ts';
import { createSpeechCache, SpeechSynthesis } from '../../src/voice/speech/speechSynthesis.ts';
import { StreamedSynthesis } from '../../src/voice/speech/streamedSynthesis.ts';
import { recordedSpeech } from '../calls/utterance.ts';

const RATE_HZ = 8000;
const FRAME_MS = 20;
const FRAME_SAMPLES = (RATE_HZ * FRAME_MS) / 1000;
/** The caller speaks, the agent answers, and both are silent for a while. */
const TURN_MS = 9000;
const SAID = 'I would like to know a little more about that.';
const ANSWER = 'This is the answer that was written for you, and it is long enough to be interrupted by you.';

/** Callers whose audio is streamed. */
export const STREAMS = 50;

/** Streams the audio of callers to the recognizer, and has their answers spoken, without anything else of a call. */
export async function startSpeechStreams(vendorUrl: string): Promise<{ readonly url: string }> {
  const words = await recordedSpeech(SAID);
  const onFailure = (error: unknown) => console.error(String(error));
  const deps = { baseUrl: vendorUrl, dial: createDial(undefined), clock: systemClock };
  const others = [{ model: createLocalTextToSpeech({ threads: 1 }), name: 'local' }];
  const rest = new SpeechSynthesis(
    {
      voices: others,
      cache: createSpeechCache(),
      clock: systemClock,
      onFailure,
    },
    RATE_HZ,
  );
  const startedMs = performance.now();
  const streams = Array.from({ length: STREAMS }, (_, index) => {
    const recognition = createCustomSpeechToText(deps).connect({ sampleRateHz: RATE_HZ }, () => undefined);
    const synthesis = new StreamedSynthesis(
      {
        voice: { model: createCustomTextToSpeech(deps), name: 'custom' },
        others,
        rest,
        clock: systemClock,
        onFailure,
      },
      RATE_HZ,
    );
    const offsetMs = (index * TURN_MS) / STREAMS;
    return { recognition, synthesis, offsetMs, frames: Math.floor(offsetMs / FRAME_MS) };
  });
  const silence = new Int16Array(FRAME_SAMPLES);
  setInterval(() => {
    const elapsedMs = performance.now() - startedMs;
    for (const stream of streams) {
      const dueFrames = Math.floor((elapsedMs + stream.offsetMs) / FRAME_MS);
      for (; stream.frames < dueFrames; stream.frames += 1) {
        const at = (stream.frames % (TURN_MS / FRAME_MS)) * FRAME_SAMPLES;
        const frame = words.subarray(at, at + FRAME_SAMPLES);
        stream.recognition.push(frame.length === FRAME_SAMPLES ? frame : silence);
        if (at === 0) void answer(stream.synthesis);
      }
    }
  }, FRAME_MS / 2);
  return { url: vendorUrl };
}

async function answer(synthesis: StreamedSynthesis): Promise<void> {
  const sink = { onSamples: () => undefined, onWords: () => undefined };
  await synthesis.speak(new WrittenText(ANSWER, true), {}, new AbortController().signal, sink);
}
