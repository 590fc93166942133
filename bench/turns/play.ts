import { UsageTally } from '../../src/agents/cost/usage.ts';
import { concatenated } from '../../src/media/pcm16.ts';
import type { TimedWord } from '../../src/models/ports/streamingSpeechToText.ts';
import type { TextToSpeech } from '../../src/models/ports/textToSpeech.ts';
import type { VoiceActivityDetection } from '../../src/models/ports/voiceActivity.ts';
import { createSpeechCache, SpeechSynthesis } from '../../src/voice/speech/speechSynthesis.ts';
import { VoiceSession } from '../../src/voice/voiceSession.ts';
import { createRandom } from '../../test/media/support/signals.ts';
import { memoryEngine, PROJECT } from '../../test/support/memoryEngine.ts';
import { scriptedModel } from '../../test/support/scriptedModel.ts';
import { createSimulatedClock, type SimulatedClock } from '../../test/support/simulatedClock.ts';
import { ONE_NODE } from '../../test/voice/support/simulatedCall.ts';
import { createSimulatedStream } from '../../test/voice/support/simulatedStream.ts';
import { LATENCIES } from '../speech/vendors.ts';
import { wordRecognizer } from './recognizer.ts';
import type { Utterance } from './set.ts';
import { RATE_HZ, speak } from './voices.ts';

const FRAME_MS = 20;
const TICKS_PER_MS = RATE_HZ / 1000;
const FRAME_SAMPLES = FRAME_MS * TICKS_PER_MS;
const QUIET_BEFORE_MS = 600;
/** An agent that has not begun to speak by then has missed the end. */
const MAX_WAIT_MS = 3000;
const LINE_NOISE = 12;
/** Of the answer. */
const SPOKEN_MS = 400;

export interface Played {
  readonly utterance: Utterance;
  /** The agent sounded within the caller's turn, after this many segments; undefined where it did not. */
  readonly falseEndAfter: number | undefined;
  /** From the last sound of the turn to the moment that its end was decided; undefined after a false end. */
  readonly endAfterMs: number | undefined;
}

/** Speaks an utterance to a voice session on a simulated clock, whose model and voice have published latencies. */
export async function play(utterance: Utterance, voiceActivity: VoiceActivityDetection): Promise<Played> {
  const call = openCall(voiceActivity, utterance.id);
  await call.until((isSounding) => isSounding);
  await call.until((isSounding) => !isSounding);
  await call.hear(silence(QUIET_BEFORE_MS));

  const startMs = call.nowMs();
  const { audio, words, segmentEndsMs } = spoken(utterance, startMs);
  call.recognizer.hear(words, utterance.language === 'zh' ? '' : ' ');
  const lengthMs = segmentEndsMs.at(-1) ?? 0;
  let falseEndAfter: number | undefined;
  for (let atMs = 0; atMs < lengthMs && falseEndAfter === undefined; atMs += FRAME_MS) {
    await call.hear(audio.subarray(atMs * TICKS_PER_MS, (atMs + FRAME_MS) * TICKS_PER_MS));
    if (call.isSounding()) falseEndAfter = segmentEndsMs.filter((endMs) => endMs <= atMs).length;
  }
  await call.until((isSounding) => isSounding);
  const soundsAtMs = call.nowMs() - FRAME_MS;
  await call.until((isSounding) => !isSounding);
  const answerAfterEndMs = await call.end();
  const endAfterMs =
    falseEndAfter === undefined ? soundsAtMs - answerAfterEndMs - startMs - lengthMs : undefined;
  return { utterance, falseEndAfter, endAfterMs };
}

/** A voice session with a caller on a line with some noise. */
function openCall(voiceActivity: VoiceActivityDetection, seed: number) {
  const clock = createSimulatedClock();
  const stream = createSimulatedStream({ clock, bufferDelayMs: 0 });
  const answer = () => new Promise<void>((resolve) => clock.setTimer(resolve, LATENCIES.firstTokenMs));
  const model = scriptedModel((_request, index) =>
    index === 0 ? { text: 'Hello.' } : { text: 'Certainly.', after: answer() },
  );
  const memory = memoryEngine({ model, pathway: ONE_NODE, clock });
  const recognizer = wordRecognizer(clock);
  const onError = (error: unknown) => {
    throw error;
  };
  const synthesis = new SpeechSynthesis(
    {
      voices: [{ model: delayedVoice(clock), name: 'delayed' }],
      cache: createSpeechCache(),
      clock,
      onFailure: onError,
    },
    RATE_HZ,
  );
  const historyStore = {
    addEvents: async () => undefined,
    addMessages: async () => undefined,
    addHeard: async () => undefined,
    addUsage: async () => undefined,
  };
  const session = new VoiceSession(
    {
      ...{ stream, engine: memory.engine, historyStore },
      speech: { speechToText: recognizer, synthesis, tally: new UsageTally() },
      ...{ voiceActivity, clock, onError },
    },
    { session: { projectId: PROJECT, sessionId: 's', channel: 'phone' } },
  );
  const report = session.run();
  const noise = lineNoise(seed);
  const hear = async (samples: Int16Array) => {
    for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
      stream.speak(new Int16Array(FRAME_SAMPLES).map((_, n) => (samples[at + n] ?? 0) + noise()));
      await stream.advance(FRAME_MS);
    }
  };
  const isSounding = () =>
    stream
      .agentAudio()
      .subarray(-FRAME_SAMPLES)
      .some((sample) => sample !== 0);
  return {
    ...{ recognizer, hear, isSounding, nowMs: stream.nowMs },
    /** Hears silence until the agent sounds, or does not, or misses the turn. */
    async until(holds: (isSounding: boolean) => boolean): Promise<void> {
      for (let waitedMs = 0; waitedMs < MAX_WAIT_MS && !holds(isSounding()); waitedMs += FRAME_MS)
        await hear(silence(FRAME_MS));
    },
    /** @returns From the decided end of the last turn to the answer's first sound, in ms. */
    async end(): Promise<number> {
      await hear(silence(FRAME_MS));
      await stream.hangUp();
      await settled(report, clock);
      const messages = memory.records.flatMap((record) => record.messages);
      const parts = messages.findLast(({ latencyParts }) => latencyParts)?.latencyParts;
      return (parts?.answerMs ?? 0) + (parts?.speechMs ?? 0) + (parts?.playoutMs ?? 0);
    },
  };
}

/** Advances time until the session has ended. */
export async function settled(report: Promise<unknown>, clock: SimulatedClock): Promise<void> {
  let isSettled = false;
  void report.then(() => {
    isSettled = true;
  });
  while (!isSettled) {
    clock.advance(FRAME_MS);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The utterance's audio, when its segments end, and its words with times on the stream's clock. */
function spoken(utterance: Utterance, startMs: number) {
  const pieces: Int16Array[] = [];
  const words: TimedWord[] = [];
  const segmentEndsMs: number[] = [];
  let lengthMs = 0;
  for (const { text, pauseAfterMs } of utterance.segments) {
    const audio = speak(utterance, text);
    const audioMs = audio.length / TICKS_PER_MS;
    words.push(...timed(wordsOf(text, utterance.language === 'zh'), startMs + lengthMs, audioMs));
    segmentEndsMs.push(lengthMs + audioMs);
    lengthMs += audioMs + pauseAfterMs;
    pieces.push(audio, silence(pauseAfterMs));
  }
  return { audio: concatenated(pieces), words, segmentEndsMs };
}

export function silence(ms: number): Int16Array {
  return new Int16Array(ms * TICKS_PER_MS);
}

/** @param isUnspaced - Each Chinese or Japanese character is a word. */
export function wordsOf(text: string, isUnspaced: boolean): string[] {
  return isUnspaced ? (text.match(/\p{L}[^\p{L}]*/gu) ?? []) : text.split(' ');
}

/** Words take as long as their letters are many. */
export function timed(words: readonly string[], fromMs: number, lengthMs: number): TimedWord[] {
  const letters = words.reduce((sum, { length }) => sum + length, 0);
  let at = 0;
  return words.map((word) => {
    const startMs = fromMs + (at / letters) * lengthMs;
    at += word.length;
    return { word, startMs, endMs: fromMs + (at / letters) * lengthMs };
  });
}

/** A voice whose first sample has its published latency. */
export function delayedVoice(clock: SimulatedClock, spokenMs = SPOKEN_MS): TextToSpeech {
  return {
    name: 'delayed',
    sampleRateHz: RATE_HZ,
    isCacheable: false,
    async *synthesize() {
      await new Promise<void>((resolve) => clock.setTimer(resolve, LATENCIES.firstSampleMs));
      yield silence(spokenMs).map((_, at) => (Math.floor(at / 56) % 2 === 0 ? 5000 : -5000));
    },
    close: async () => undefined,
  };
}

function lineNoise(seed: number): () => number {
  const random = createRandom(seed + 1);
  return () => Math.round(LINE_NOISE * (2 * random() - 1));
}
