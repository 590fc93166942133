import type { VoiceActivityDetection } from '../../providers/ports/voiceActivity.ts';
import type { AudioStream } from '../../voice/audioStream.ts';

/** What a simulated person hears of the other side, on the stream's own clock. */
export interface SpeechListener {
  /** Since the stream's begin. */
  readonly nowMs: number;
  /** The other side speaks, or did within the last moment. */
  readonly isSpeaking: boolean;
  /** How long the other side has been quiet; how long it has been speaking. */
  readonly quietMs: number;
  readonly speakingMs: number;
  /** Whether anything was said since `reset`. */
  readonly hasHeard: boolean;
  reset(): void;
  /** Resolves at the first moment that fulfils it; rejects when the stream is over. */
  until(condition: () => boolean): Promise<void>;
  close(): void;
}

/** Shorter pauses are within a sentence. */
const HANGOVER_MS = 200;
/** Shorter bursts are clicks. */
const ONSET_MS = 60;

/** Thrown at who still waits when the other side has hung up. */
export class StreamClosedError extends Error {
  constructor() {
    super('the stream is over');
    this.name = 'StreamOver';
  }
}

export function listenForSpeech(
  stream: AudioStream,
  activity: VoiceActivityDetection,
  onChange: (isSpeaking: boolean, atMs: number) => void,
): SpeechListener {
  const { sampleRateHz } = stream.info;
  const frameLength = sampleRateHz / 50;
  const detector = activity.open(sampleRateHz);
  const frame = new Int16Array(frameLength);
  let filled = 0;
  let samples = 0;
  let voicedMs = 0;
  let unvoicedMs = 0;
  let changedAtMs = 0;
  let isSpeaking = false;
  let hasHeard = false;
  let isOver = false;
  const waiting = new Set<{
    condition: () => boolean;
    resolve: () => void;
    reject: (error: Error) => void;
  }>();
  const nowMs = () => (samples * 1000) / sampleRateHz;

  const change = (speaking: boolean) => {
    isSpeaking = speaking;
    hasHeard ||= speaking;
    changedAtMs = nowMs();
    onChange(speaking, changedAtMs);
  };
  const judge = () => {
    if (detector.isSpeech(frame)) {
      voicedMs += 20;
      unvoicedMs = 0;
      if (!isSpeaking && voicedMs >= ONSET_MS) change(true);
    } else {
      unvoicedMs += 20;
      voicedMs = 0;
      if (isSpeaking && unvoicedMs >= HANGOVER_MS) change(false);
    }
  };
  const check = () => {
    for (const one of waiting) {
      if (!one.condition()) continue;
      waiting.delete(one);
      one.resolve();
    }
  };
  const offAudio = stream.events.on('audio', (heard) => {
    for (let i = 0; i < heard.length; ) {
      const take = Math.min(frameLength - filled, heard.length - i);
      frame.set(heard.subarray(i, i + take), filled);
      filled += take;
      i += take;
      samples += take;
      if (filled < frameLength) continue;
      filled = 0;
      judge();
    }
    check();
  });
  const end = () => {
    isOver = true;
    for (const one of waiting) one.reject(new StreamClosedError());
    waiting.clear();
  };
  const offClosed = stream.events.on('closed', end);

  return {
    get nowMs() {
      return nowMs();
    },
    get isSpeaking() {
      return isSpeaking;
    },
    get quietMs() {
      return isSpeaking ? 0 : nowMs() - changedAtMs;
    },
    get speakingMs() {
      return isSpeaking ? nowMs() - changedAtMs : 0;
    },
    get hasHeard() {
      return hasHeard;
    },
    reset() {
      hasHeard = isSpeaking;
    },
    until(condition) {
      if (isOver) return Promise.reject(new StreamClosedError());
      if (condition()) return Promise.resolve();
      return new Promise((resolve, reject) => waiting.add({ condition, resolve, reject }));
    },
    close() {
      offAudio();
      offClosed();
      end();
      detector.close();
    },
  };
}
