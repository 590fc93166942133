import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import type { TextToSpeech } from '../../models/ports/textToSpeech.ts';
import type { VoiceActivityDetection } from '../../models/ports/voiceActivity.ts';
import { SpeechListener, StreamClosedError } from './listener.ts';
import type { Step } from './script.ts';
import { beep, noise, onLine, soundOfFile } from './sounds.ts';

/** Silence after the other party's words that is the caller's to fill. */
const ASKED_AFTER_MS = 1500;

/** An event on the line as the simulated caller sees it; times on the stream's clock. */
export type SimulatedCallerEvent =
  | { readonly kind: 'speech_started' | 'speech_ended'; readonly atMs: number }
  | { readonly kind: 'said'; readonly atMs: number; readonly text: string; readonly durationMs: number }
  | { readonly kind: 'digits_sent'; readonly atMs: number; readonly digits: string }
  | { readonly kind: 'digit_received'; readonly atMs: number; readonly digit: string }
  | { readonly kind: 'hung_up'; readonly atMs: number; readonly by: 'self' | 'peer' };

export interface SimulatedCallerDeps {
  readonly speech: TextToSpeech;
  readonly activity: VoiceActivityDetection;
  /** The seed of the noise; the same seed gives the same call. */
  readonly seed: number;
  readonly onEvent?: (event: SimulatedCallerEvent) => void;
}

/** Runs a script as one party of a call. */
export async function runSimulatedCaller(
  stream: AudioStream,
  script: readonly Step[],
  stays: boolean,
  deps: SimulatedCallerDeps,
): Promise<void> {
  const emit = deps.onEvent ?? (() => {});
  const listener = new SpeechListener(stream, deps.activity, (isSpeaking, atMs) =>
    emit({ kind: isSpeaking ? 'speech_started' : 'speech_ended', atMs }),
  );
  const offDigits = stream.events.on('dtmf', ({ digit }) =>
    emit({ kind: 'digit_received', atMs: listener.nowMs, digit }),
  );
  try {
    for (const step of script) {
      await runStep(step, stream, listener, deps, emit);
      if (step.do === 'hang_up') return;
    }
    if (stays) await listener.until(() => false);
    else hangUp(stream, listener, emit);
  } catch (error) {
    if (!(error instanceof StreamClosedError)) throw error;
    emit({ kind: 'hung_up', atMs: listener.nowMs, by: 'peer' });
  } finally {
    offDigits();
    listener.close();
  }
}

type Emit = (event: SimulatedCallerEvent) => void;

async function runStep(
  step: Step,
  stream: AudioStream,
  listener: SpeechListener,
  deps: SimulatedCallerDeps,
  emit: Emit,
): Promise<void> {
  const { sampleRateHz } = stream.info;
  switch (step.do) {
    case 'listen': {
      const untilMs = listener.nowMs + step.atMostMs;
      listener.reset();
      await listener.until(
        () => listener.nowMs >= untilMs || (listener.hasHeard && listener.quietMs >= step.quietMs),
      );
      return;
    }
    case 'say':
      return await say(step.text, stream, listener, deps, emit);
    case 'play':
      return await playSamples(await soundOfFile(step.file, sampleRateHz), undefined, stream, listener, emit);
    case 'interrupt': {
      // Synthesized in advance, so that it starts in time.
      const speech = await speak(step.text, sampleRateHz, deps.speech);
      const { afterMs, repeat } = step;
      const isDue = () => listener.speakingMs >= afterMs;
      const isAsked = () => repeat !== undefined && listener.hasHeard && listener.quietMs >= ASKED_AFTER_MS;
      listener.reset();
      await listener.until(() => isDue() || isAsked());
      while (repeat !== undefined && !isDue()) {
        await say(repeat, stream, listener, deps, emit);
        listener.reset();
        await listener.until(() => isDue() || isAsked());
      }
      return await playSamples(speech, step.text, stream, listener, emit);
    }
    case 'send_dtmf':
      stream.command({ kind: 'send_dtmf', digits: step.digits });
      emit({ kind: 'digits_sent', atMs: listener.nowMs, digits: step.digits });
      return;
    case 'wait': {
      const untilMs = listener.nowMs + step.ms;
      return await listener.until(() => listener.nowMs >= untilMs);
    }
    case 'beep':
      return await playSamples(beep(step.ms, sampleRateHz), undefined, stream, listener, emit);
    case 'noise':
      return await playSamples(
        noise(step.ms, sampleRateHz, step.belowFullScaleDb, deps.seed),
        undefined,
        stream,
        listener,
        emit,
      );
    case 'hang_up':
      return hangUp(stream, listener, emit);
  }
}

async function say(
  text: string,
  stream: AudioStream,
  listener: SpeechListener,
  deps: SimulatedCallerDeps,
  emit: Emit,
): Promise<void> {
  await playSamples(await speak(text, stream.info.sampleRateHz, deps.speech), text, stream, listener, emit);
}

/** Plays the samples and waits until they were sent. */
async function playSamples(
  samples: Int16Array,
  text: string | undefined,
  stream: AudioStream,
  listener: SpeechListener,
  emit: Emit,
): Promise<void> {
  const durationMs = (samples.length * 1000) / stream.info.sampleRateHz;
  const name = `sound at ${stream.receivedSamples}`;
  let isOut = false;
  const off = stream.events.on('mark', (mark) => {
    isOut ||= mark.name === name;
  });
  if (text !== undefined) emit({ kind: 'said', atMs: listener.nowMs, text, durationMs });
  stream.play(samples);
  stream.mark(name);
  try {
    await listener.until(() => isOut);
  } finally {
    off();
  }
}

function hangUp(stream: AudioStream, listener: SpeechListener, emit: Emit): void {
  emit({ kind: 'hung_up', atMs: listener.nowMs, by: 'self' });
  stream.command({ kind: 'hangup' });
}

/** Synthesized speech at the sample rate of the line. */
async function speak(text: string, sampleRateHz: number, speech: TextToSpeech): Promise<Int16Array> {
  const pieces: Int16Array[] = [];
  for await (const piece of speech.synthesize({ text }, new AbortController().signal)) pieces.push(piece);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const whole = new Int16Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return onLine(whole, speech.sampleRateHz, sampleRateHz);
}
