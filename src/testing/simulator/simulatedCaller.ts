import type { TextToSpeech } from '../../providers/ports/textToSpeech.ts';
import type { VoiceActivityDetection } from '../../providers/ports/voiceActivity.ts';
import type { AudioStream } from '../../voice/audioStream.ts';
import { listenForSpeech, type SpeechListener, StreamClosedError } from './listener.ts';
import type { Step } from './script.ts';
import { beep, noise, onLine, soundOfFile } from './sounds.ts';

/** What happened on the line, as this person saw it; times on the stream's clock. */
export type SimulatedCallerEvent =
  | { readonly kind: 'heard_begin' | 'heard_end'; readonly atMs: number }
  | { readonly kind: 'said'; readonly atMs: number; readonly text: string; readonly durationMs: number }
  | { readonly kind: 'pressed'; readonly atMs: number; readonly digits: string }
  | { readonly kind: 'heard_digit'; readonly atMs: number; readonly digit: string }
  | { readonly kind: 'hung_up'; readonly atMs: number; readonly by: 'me' | 'other' };

export interface SimulatedCallerDeps {
  readonly speech: TextToSpeech;
  readonly activity: VoiceActivityDetection;
  /** For the noises; the same seed makes the same call. */
  readonly seed: number;
  readonly onEvent?: (event: SimulatedCallerEvent) => void;
}

/** A person at one end of a call, played by a script. */
export async function runSimulatedCaller(
  stream: AudioStream,
  script: readonly Step[],
  stays: boolean,
  deps: SimulatedCallerDeps,
): Promise<void> {
  const tell = deps.onEvent ?? (() => {});
  const ear = listenForSpeech(stream, deps.activity, (isSpeaking, atMs) =>
    tell({ kind: isSpeaking ? 'heard_begin' : 'heard_end', atMs }),
  );
  const offDigits = stream.events.on('dtmf', ({ digit }) =>
    tell({ kind: 'heard_digit', atMs: ear.nowMs, digit }),
  );
  try {
    for (const step of script) {
      await act(step, stream, ear, deps, tell);
      if (step.do === 'hang_up') return;
    }
    if (stays) await ear.until(() => false);
    else hangUp(stream, ear, tell);
  } catch (error) {
    if (!(error instanceof StreamClosedError)) throw error;
    tell({ kind: 'hung_up', atMs: ear.nowMs, by: 'other' });
  } finally {
    offDigits();
    ear.close();
  }
}

type Tell = (event: SimulatedCallerEvent) => void;

async function act(
  step: Step,
  stream: AudioStream,
  ear: SpeechListener,
  deps: SimulatedCallerDeps,
  tell: Tell,
): Promise<void> {
  const { sampleRateHz } = stream.info;
  switch (step.do) {
    case 'listen': {
      const untilMs = ear.nowMs + step.atMostMs;
      ear.reset();
      await ear.until(() => ear.nowMs >= untilMs || (ear.hasHeard && ear.quietMs >= step.quietMs));
      return;
    }
    case 'say':
      return await say(step.text, stream, ear, deps, tell);
    case 'play':
      return await sound(await soundOfFile(step.file, sampleRateHz), undefined, stream, ear, tell);
    case 'cut_in': {
      // The words are made before, so that they come in when they should.
      const speech = await speak(step.text, sampleRateHz, deps.speech);
      await ear.until(() => ear.speakingMs >= step.afterMs);
      return await sound(speech, step.text, stream, ear, tell);
    }
    case 'press':
      stream.command({ kind: 'send_dtmf', digits: step.digits });
      tell({ kind: 'pressed', atMs: ear.nowMs, digits: step.digits });
      return;
    case 'wait': {
      const untilMs = ear.nowMs + step.ms;
      return await ear.until(() => ear.nowMs >= untilMs);
    }
    case 'beep':
      return await sound(beep(step.ms, sampleRateHz), undefined, stream, ear, tell);
    case 'noise':
      return await sound(
        noise(step.ms, sampleRateHz, step.belowFullScaleDb, deps.seed),
        undefined,
        stream,
        ear,
        tell,
      );
    case 'hang_up':
      return hangUp(stream, ear, tell);
  }
}

async function say(
  text: string,
  stream: AudioStream,
  ear: SpeechListener,
  deps: SimulatedCallerDeps,
  tell: Tell,
): Promise<void> {
  await sound(await speak(text, stream.info.sampleRateHz, deps.speech), text, stream, ear, tell);
}

/** Plays, and waits until the last of it has left this phone. */
async function sound(
  samples: Int16Array,
  text: string | undefined,
  stream: AudioStream,
  ear: SpeechListener,
  tell: Tell,
): Promise<void> {
  const durationMs = (samples.length * 1000) / stream.info.sampleRateHz;
  const name = `sound at ${stream.receivedSamples}`;
  let isOut = false;
  const off = stream.events.on('mark', (mark) => {
    isOut ||= mark.name === name;
  });
  if (text !== undefined) tell({ kind: 'said', atMs: ear.nowMs, text, durationMs });
  stream.play(samples);
  stream.mark(name);
  try {
    await ear.until(() => isOut);
  } finally {
    off();
  }
}

function hangUp(stream: AudioStream, ear: SpeechListener, tell: Tell): void {
  tell({ kind: 'hung_up', atMs: ear.nowMs, by: 'me' });
  stream.command({ kind: 'hangup' });
}

/** Speech at the rate of the line. */
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
