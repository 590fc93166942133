import type {
  RecognitionOptions,
  RecognitionStream,
  SpeechToText,
} from '../../providers/ports/speechToText.ts';
import { VAD_FRAME_MS, type VoiceActivityDetector } from '../../providers/ports/voiceActivity.ts';
import { createEchoDetector } from './echoDetector.ts';
import {
  closeUtterance,
  detectSpeech,
  isSpeechOnset,
  NO_SPEECH,
  type SpeechActivity,
  type Utterance,
} from './speechActivity.ts';
import { createSpeechEnd } from './speechEnd.ts';

/** Heard before it was known that somebody speaks; first consonants are soft. */
const PRE_ROLL_MS = 300;
/** Before noise is steady, its first frame is half of it. */
const NOISE_ONSET_MS = 2 * VAD_FRAME_MS;

export interface SpeechRecognitionDeps {
  readonly sampleRateHz: number;
  /** The stream's clock when it begins to listen. */
  readonly startSamples: number;
  readonly detector: VoiceActivityDetector;
  readonly speechToText: SpeechToText;
  /** What may be said now: asked for when an utterance begins. */
  readonly hints: () => Pick<RecognitionOptions, 'language' | 'expectedAnswers'>;
  /** What sounded in the last 20 ms, to know it again where it comes back; undefined for silence. */
  readonly played: () => Int16Array | undefined;
  /** Each frame of 20 ms, with its end on the stream's clock; valid during the call only. */
  readonly onFrame: (frame: Int16Array, atMs: number) => void;
  /** Of the open utterance, while the recogniser is still at it; from one that tells only at the end, never. */
  readonly onPartial: (text: string) => void;
  readonly onWords: (text: string) => void;
  readonly onWordsFailed: (error: unknown) => void;
}

/** Hears the caller: cuts the stream into frames, tells speech from silence, and has the words recognised. */
export interface SpeechRecognition {
  /** The caller's next samples, any number; they may be used again after it returns. */
  push(samples: Int16Array): void;
  readonly utterance: Utterance | undefined;
  /** Where the voice in it ends, to the sample. */
  readonly voiceEndMs: number | undefined;
  /** The caller may just be beginning to speak: it is not sure yet. */
  readonly mayBegin: boolean;
  /** Asks for the words of the open utterance, so far as it has come; `onWords` or `onWordsFailed` follows. */
  ask(): void;
  /**
   * Closes the open utterance, as {@link forget} does, and has its words recognised all the same.
   *
   * @returns Empty where there is none.
   * @throws {ModelError} When they are not recognised.
   */
  lastWords(): Promise<string>;
  /** The caller went on: an answer that is still to come would be about too little. */
  dropQuestion(): void;
  /** The utterance is dealt with. */
  forget(): void;
  /** Idempotent. */
  close(): void;
}

/** Of the words of the open utterance, so far as it had come. */
interface Question {
  readonly words: Promise<string>;
  drop(reason: Error): void;
}

export function createSpeechRecognition(deps: SpeechRecognitionDeps): SpeechRecognition {
  const { sampleRateHz, detector, speechToText } = deps;
  const frameSamples = (sampleRateHz * VAD_FRAME_MS) / 1000;
  const frame = new Int16Array(frameSamples);
  const echoes = createEchoDetector(sampleRateHz);
  const voiceEnd = createSpeechEnd(sampleRateHz);
  const preRoll: Int16Array[] = [];
  let filled = 0;
  let heardSamples = deps.startSamples;
  let activity: SpeechActivity = NO_SPEECH;
  let transcription: RecognitionStream | undefined;
  let question: Question | undefined;

  const dropQuestion = () => {
    question?.drop(new Error('the caller went on'));
    question = undefined;
  };
  const ask = () => {
    dropQuestion();
    if (!transcription) return;
    const controller = new AbortController();
    const words = transcription.finalize(controller.signal).then(({ text }) => text);
    const asked: Question = { words, drop: (reason) => controller.abort(reason) };
    question = asked;
    words.then(
      (text) => {
        if (question === asked) deps.onWords(text);
      },
      (error: unknown) => {
        if (question === asked) deps.onWordsFailed(error);
      },
    );
  };
  const forget = () => {
    dropQuestion();
    transcription?.close();
    transcription = undefined;
    activity = closeUtterance(activity);
    voiceEnd.forget();
  };
  const keep = () => {
    if (activity.utterance && transcription) {
      transcription.push(frame);
      return;
    }
    preRoll.push(frame.slice());
    if (preRoll.length > PRE_ROLL_MS / VAD_FRAME_MS) preRoll.shift();
    if (!activity.utterance) return;
    const onPartial = (text: string) => {
      if (activity.utterance) deps.onPartial(text);
    };
    transcription = speechToText.openStream({ sampleRateHz, ...deps.hints(), onInterim: onPartial });
    for (const samples of preRoll.splice(0)) transcription.push(samples);
  };
  /** An utterance that began with what is known for noise now, and had nothing before it, was none. */
  const isNoise = (utterance: Utterance | undefined, atMs: number) => {
    const noiseMs = detector.reclassifiedNoiseMs?.() ?? 0;
    return noiseMs > 0 && utterance !== undefined && utterance.startMs >= atMs - noiseMs - NOISE_ONSET_MS;
  };
  const hear = () => {
    heardSamples += frameSamples;
    const atMs = (heardSamples * 1000) / sampleRateHz;
    const isSpeech = detector.isSpeech(frame);
    const verdict = echoes.judge(frame, deps.played(), isSpeech);
    if (verdict === 'found' || isNoise(activity.utterance, atMs)) forget();
    activity = detectSpeech(activity, isSpeech && verdict === 'own', atMs);
    if (activity.utterance?.lastVoicedMs === atMs) voiceEnd.hear(frame, atMs);
    keep();
    deps.onFrame(frame, atMs);
  };

  return {
    get utterance() {
      return activity.utterance;
    },
    get voiceEndMs() {
      return voiceEnd.atMs;
    },
    get mayBegin() {
      return isSpeechOnset(activity);
    },
    push(samples) {
      for (let at = 0; at < samples.length; ) {
        const count = Math.min(frameSamples - filled, samples.length - at);
        frame.set(samples.subarray(at, at + count), filled);
        filled += count;
        at += count;
        if (filled < frameSamples) return;
        filled = 0;
        hear();
      }
    },
    ask,
    async lastWords() {
      if (!question) ask();
      const [words, asked] = [question?.words, transcription];
      // What answers them is no longer the open utterance's, and is not dropped with it.
      question = undefined;
      transcription = undefined;
      forget();
      try {
        return (await words) ?? '';
      } finally {
        asked?.close();
      }
    },
    dropQuestion,
    forget,
    close() {
      forget();
      detector.close();
    },
  };
}
