import { UsageTally } from '../../src/agents/cost/usage.ts';
import { concatenated } from '../../src/media/pcm16.ts';
import type { Recognizer } from '../../src/models/ports/recognizer.ts';
import type { TimedWord } from '../../src/models/ports/streamingSpeechToText.ts';
import type { VoiceActivityDetection } from '../../src/models/ports/voiceActivity.ts';
import type { AnsweredBy } from '../../src/voice/answeringMachine/answeringMachineDetector.ts';
import { createSpeechCache, SpeechSynthesis } from '../../src/voice/speech/speechSynthesis.ts';
import { VoiceSession } from '../../src/voice/voiceSession.ts';
import { createRandom } from '../../test/media/support/signals.ts';
import { memoryEngine, PROJECT } from '../../test/support/memoryEngine.ts';
import { scriptedModel } from '../../test/support/scriptedModel.ts';
import { createSimulatedClock, type SimulatedClock } from '../../test/support/simulatedClock.ts';
import { ONE_NODE } from '../../test/voice/support/simulatedCall.ts';
import { createSimulatedStream } from '../../test/voice/support/simulatedStream.ts';
import { addNoise, throughCodec } from '../recognition/telephone.ts';
import { LATENCIES } from '../speech/vendors.ts';
import { delayedVoice, settled, silence, timed, wordsOf } from '../turns/play.ts';
import { RATE_HZ } from '../turns/voices.ts';
import type { AnsweredCall } from './set.ts';
import { beepOf, speak } from './voices.ts';

const FRAME_MS = 20;
const TICKS_PER_MS = RATE_HZ / 1000;
const FRAME_SAMPLES = FRAME_MS * TICKS_PER_MS;
/** Of the words, those that the scripted recognizer does not hear. */
const LOST_WORDS = 0.05;
/** Of each answer of the agent. */
const SPOKEN_MS = 2200;
/** A machine that has beeped, and a person who waits, are silent so long. */
const SILENT_MS = 6000;
const MAX_WAIT_MS = 8000;
const REPLY_AFTER_MS = 600;
/** What a screening service and people say after the agent's answers. */
const REPLIES = {
  human: ['Yes, that is me.', 'All right, go on.'],
  screening: ['Thanks, please stay on the line.', 'Hello, this is Ann.'],
  machine: [],
  unknown: [],
} as const;

export interface Played {
  readonly call: AnsweredCall;
  readonly answeredBy: AnsweredBy;
  /** The agent hung up, after a message where one was due. */
  readonly isHungUp: boolean;
  /** From the answer to the agent's first sound. */
  readonly greetingMs: number;
}

/** A recognizer that is told what is said, where it cannot hear. */
export interface Hearing {
  readonly recognizer: Recognizer;
  hear?(words: readonly TimedWord[], join: string): void;
  /** Resolves once what was asked so far is recognized. */
  readonly settled?: () => Promise<void>;
}

/** Answers a call on a simulated clock, as a person, a machine or a service, until the agent hangs up or has talked. */
export async function play(
  call: AnsweredCall,
  voiceActivity: VoiceActivityDetection,
  open: (clock: SimulatedClock) => Hearing,
): Promise<Played> {
  const line = openLine(voiceActivity, open);
  const random = createRandom(call.id + 1);
  const say = async (segments: AnsweredCall['segments'], beep: AnsweredCall['beep']) => {
    const { samples, words } = await audioOf({ ...call, segments, beep }, line.nowMs());
    const isUnspaced = call.language === 'zh' || call.language === 'ja';
    line.hearing.hear?.(
      words.filter(() => random() >= LOST_WORDS),
      isUnspaced ? '' : ' ',
    );
    await line.hear(onLine(samples, call));
  };
  const wait = (ms: number) => line.hear(onLine(silence(ms), call));
  await wait(call.firstMs);
  await say(call.segments, call.beep);
  for (const text of REPLIES[call.expected]) {
    await line.until(true, wait);
    await line.until(false, wait);
    await wait(REPLY_AFTER_MS);
    const english = { ...call, language: 'en' as const };
    const { samples, words } = await audioOf(
      { ...english, segments: [{ text, reading: text, pauseAfterMs: 0 }], beep: undefined },
      line.nowMs(),
    );
    line.hearing.hear?.(
      words.filter(() => random() >= LOST_WORDS),
      ' ',
    );
    await line.hear(onLine(samples, call));
  }
  await wait(SILENT_MS);
  return { call, ...(await line.end()) };
}

function openLine(voiceActivity: VoiceActivityDetection, open: (clock: SimulatedClock) => Hearing) {
  const clock = createSimulatedClock();
  const stream = createSimulatedStream({ clock, bufferDelayMs: 0 });
  const hearing = open(clock);
  const first = () => new Promise<void>((resolve) => clock.setTimer(resolve, LATENCIES.firstTokenMs));
  const model = scriptedModel(() => ({
    text: 'This is the clinic, about your appointment.',
    after: first(),
  }));
  const memory = memoryEngine({ model, pathway: ONE_NODE, clock });
  const onError = () => undefined;
  const synthesis = new SpeechSynthesis(
    {
      voices: [{ model: delayedVoice(clock, SPOKEN_MS), name: 'delayed' }],
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
      speech: { speechToText: hearing.recognizer, synthesis, tally: new UsageTally() },
      ...{ voiceActivity, clock, onError },
    },
    { session: { projectId: PROJECT, sessionId: 's', channel: 'phone' }, detectAnsweringMachine: true },
  );
  const report = session.run();
  const isHungUp = () => stream.commands.some(({ kind }) => kind === 'hangup');
  const isSounding = () =>
    stream
      .agentAudio()
      .subarray(-FRAME_SAMPLES)
      .some((sample) => sample !== 0);
  return {
    ...{ hearing, nowMs: stream.nowMs },
    async hear(samples: Int16Array) {
      for (let at = 0; at < samples.length && !isHungUp(); at += FRAME_SAMPLES) {
        stream.speak(concatenated([samples.subarray(at, at + FRAME_SAMPLES)]));
        await stream.advance(FRAME_MS);
        await hearing.settled?.();
      }
    },
    /** Waits until the agent sounds, or does not. */
    async until(sounds: boolean, wait: (ms: number) => Promise<void>): Promise<void> {
      for (let ms = 0; ms < MAX_WAIT_MS && isSounding() !== sounds && !isHungUp(); ms += FRAME_MS)
        await wait(FRAME_MS);
    },
    async end() {
      const greetingMs = stream.agentAudio().findIndex((sample) => sample !== 0) / TICKS_PER_MS;
      const hasHungUp = isHungUp();
      await stream.hangUp();
      await settled(report, clock);
      return { answeredBy: (await report).answeredBy, isHungUp: hasHungUp, greetingMs };
    },
  };
}

/** What is said, with its words' times on the stream's clock. */
async function audioOf(call: AnsweredCall, startMs: number) {
  const pieces: Int16Array[] = [];
  const words: TimedWord[] = [];
  let lengthMs = 0;
  for (const { text, reading, pauseAfterMs } of call.segments) {
    const audio = await speak(call, reading);
    const audioMs = audio.length / TICKS_PER_MS;
    const isUnspaced = call.language === 'zh' || call.language === 'ja';
    words.push(...timed(wordsOf(text, isUnspaced), startMs + lengthMs, audioMs));
    pieces.push(audio, silence(pauseAfterMs));
    lengthMs += audioMs + pauseAfterMs;
  }
  if (call.beep) pieces.push(silence(call.beep.afterMs), beepOf(call.beep));
  return { samples: concatenated(pieces), words };
}

/** Whole frames of a telephone line with its noise. */
function onLine(samples: Int16Array, { noise }: AnsweredCall): Int16Array {
  const line = new Float64Array(Math.ceil(samples.length / FRAME_SAMPLES) * FRAME_SAMPLES);
  line.set(samples);
  addNoise(line, SPEECH_LEVEL, noise);
  return throughCodec(line);
}

/** RMS of the voices. */
const SPEECH_LEVEL = 1500;
