import type { BotRules, StreamMessage } from '../../dialects/dialect.ts';
import { PlayoutQueue } from '../../media/agentStream/playoutQueue.ts';
import type { StreamTarget } from '../../media/agentStream/streamClient.ts';
import { FRAME_MS } from '../../media/codecs/codec.ts';
import { atRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import { CLOSE_NORMAL } from '../transport/streamSocket.ts';
import { type CarrierDialectName, findCarrierDialect } from './carrierDialects.ts';
import { CheckedCall, type CheckedConnection, isOrderly, type Script } from './checkedCall.ts';
import { type Finding, fail, pass, skipped } from './finding.ts';
import { connectionOf } from './sockets.ts';

/** The buffer of a carrier that documents none: as much as our own gateway holds. */
const UNDOCUMENTED_BUFFER_MS = 120_000;

export interface BotCheck extends CheckedConnection {
  readonly dialect: CarrierDialectName;
  readonly target: Pick<StreamTarget, 'streamId' | 'customParameters'>;
  readonly sampleRateHz: SampleRateHz;
  readonly durationMs: number;
  /** What the caller says, twice, at 8 kHz. */
  readonly speech: Int16Array;
  /** The bot sends no audio, as one that only transcribes. */
  readonly isListenOnly?: boolean;
}

export const SPEECH_RATE_HZ = 8000;
/** Shares of the call's length: the caller greets, interrupts and presses a key. */
const SPEAK_AT = [0.25, 0.55] as const;
const PRESS_AT = 0.85;
const DIGIT = '5';
const DIGIT_MS = 100;
/** Less than this is played before it could be cleared. */
const MIN_INTERRUPTED_MS = 1000;
/** From the first sample of the caller's interruption: to recognize it takes a bot's model a second. */
const CLEAR_TIMEOUT_MS = 3000;
/** For the bot to close its connection after the call's end: it may wait five seconds for the caller's last words. */
const CLOSE_TIMEOUT_MS = 8000;

/** What the bot has sent, in milliseconds of the caller's audio. */
interface Heard {
  audioMs: number;
  maxQueuedMs: number;
  marks: number;
  answeredMarks: number;
  clears: number;
  /** The caller spoke while the bot's audio was queued. */
  interruption?: { readonly atMs: number; readonly queuedMs: number; clearedAtMs?: number };
  isKeyPressed: boolean;
}

/** Plays a carrier's or a PBX's side of a call with a bot, and tells what the bot does wrong. Closes the connection. */
export async function checkBot(options: BotCheck): Promise<readonly Finding[]> {
  const { dialect, socket, clock, target, durationMs, isListenOnly = false } = options;
  const { botRules = {}, hasNoMarks, openClient } = findCarrierDialect(dialect);
  const heard: Heard = {
    ...{ audioMs: 0, maxQueuedMs: 0, marks: 0, answeredMarks: 0, clears: 0 },
    isKeyPressed: false,
  };
  const problemOf = (message: StreamMessage) => botRules.problemOf?.(message, target.streamId);
  const call = new CheckedCall({ name: 'bot', socket, clock, problemOf, read });
  const client = openClient(connectionOf(socket), {
    target: { url: '', dialect, callId: target.streamId, canReconnect: false, ...target },
    sampleRateHz: options.sampleRateHz,
  });
  const { sampleRateHz } = client;
  const toMs = (samples: number) => (samples * 1000) / sampleRateHz;
  /** The position in the caller's audio. */
  let position = 0;
  const queue = new PlayoutQueue({
    sampleRateHz,
    onMark: ({ name, outcome }) => {
      heard.answeredMarks++;
      client.mark({ name, outcome, ...playoutPosition() });
    },
  });
  const playoutPosition = () => ({
    playedSamples: queue.playedPosition,
    receivedSamples: position,
    bufferDelayMs: 0,
  });
  const queuedMs = () => Math.round(toMs(queue.queuedSamples));

  function read(message: StreamMessage, malformed: () => void): void {
    client.read(message, {
      audio: (samples) => {
        heard.audioMs += toMs(samples.length);
        queue.enqueue(samples);
        heard.maxQueuedMs = Math.max(heard.maxQueuedMs, queuedMs());
      },
      mark: (name) => {
        heard.marks++;
        queue.mark(name);
      },
      clear: () => {
        heard.clears++;
        if (heard.interruption) heard.interruption.clearedAtMs ??= toMs(position);
        queue.clear();
        client.cleared?.(playoutPosition());
      },
      command: ({ kind }) => {
        call.hasHungUp ||= kind === 'hangup';
      },
      failoverPrompts: () => undefined,
      malformed,
    });
  }

  /** One step a frame. */
  function* talk(): Script {
    const speech = atRate(options.speech, SPEECH_RATE_HZ, sampleRateHz);
    const frameSamples = (sampleRateHz * FRAME_MS) / 1000;
    let toSay = speech.subarray(speech.length);
    for (let nowMs = 0; nowMs < durationMs; nowMs += FRAME_MS) {
      const reaches = (share: number) => nowMs >= share * durationMs && nowMs < share * durationMs + FRAME_MS;
      if (SPEAK_AT.some(reaches)) {
        toSay = speech;
        if (queuedMs() >= MIN_INTERRUPTED_MS) heard.interruption ??= { atMs: nowMs, queuedMs: queuedMs() };
      }
      if (reaches(PRESS_AT)) {
        heard.isKeyPressed = true;
        client.dtmf(DIGIT, DIGIT_MS);
      }
      const frame = new Int16Array(frameSamples);
      frame.set(toSay.subarray(0, frameSamples));
      toSay = toSay.subarray(frameSamples);
      client.audio(frame, position);
      position += frameSamples;
      queue.pull(new Int16Array(frameSamples));
      yield { atMs: nowMs + FRAME_MS };
    }
  }

  const hangUp = () => {
    client.stop();
    if (!client.agentClosesAfterStop) socket.close(CLOSE_NORMAL, 'the call has ended');
  };
  await call.run(talk(), { lastWordsMs: FRAME_MS, hangUp, closeTimeoutMs: CLOSE_TIMEOUT_MS });
  return call.judge([
    pass('messages', 'all can be read'),
    audio(heard, isListenOnly),
    pass('formats', `${sampleRateHz} Hz, as the stream has it`),
    pacing(heard, botRules),
    hasNoMarks ? skipped('marks', 'the dialect has none') : marked(heard),
    cleared(heard, botRules),
    keys(heard, call),
    hungUp(call),
    call.end?.isPeers ? skipped('closing', 'the bot closed first') : call.closing(),
  ]);
}

function audio({ audioMs }: Heard, isListenOnly: boolean): Finding {
  if (Math.round(audioMs) > 0) return pass('audio', `${Math.round(audioMs)} ms received`);
  if (isListenOnly) return skipped('audio', 'the bot only listens');
  return fail('audio', 'the bot sent none, neither as a greeting nor after words of the caller');
}

function pacing({ audioMs, maxQueuedMs }: Heard, { bufferMs = UNDOCUMENTED_BUFFER_MS }: BotRules): Finding {
  if (audioMs === 0) return skipped('pacing', 'the bot sent no audio');
  if (maxQueuedMs <= bufferMs) return pass('pacing', `at most ${maxQueuedMs} ms ahead of its playout`);
  return fail('pacing', `${maxQueuedMs} ms ahead of its playout; the limit is ${bufferMs} ms`);
}

function marked({ marks, answeredMarks }: Heard): Finding {
  if (marks === 0) return skipped('marks', 'the bot sent none');
  return pass('marks', `${marks} sent; ${answeredMarks} were played or cleared`);
}

function cleared({ interruption, clears }: Heard, { hasNoClear }: BotRules): Finding {
  if (hasNoClear) return skipped('clear', 'the dialect has none');
  if (interruption === undefined)
    return clears > 0
      ? pass('clear', `${clears} sent`)
      : skipped('clear', `the caller never spoke over ${MIN_INTERRUPTED_MS} ms of queued audio`);
  const { atMs, queuedMs, clearedAtMs = Number.POSITIVE_INFINITY } = interruption;
  if (clearedAtMs - atMs <= CLEAR_TIMEOUT_MS)
    return pass('clear', `${clearedAtMs - atMs} ms after the caller began to speak`);
  const left = `${queuedMs} ms of the bot's audio were queued when the caller spoke`;
  return fail('clear', `${left}, and no clear came within ${CLEAR_TIMEOUT_MS} ms`);
}

function keys({ isKeyPressed }: Heard, { end }: CheckedCall): Finding {
  if (!isKeyPressed) return skipped('keys', 'the call ended before a key was pressed');
  if (end?.isPeers && !isOrderly(end.code))
    return fail('keys', `the connection ended with ${end.code} after the key ${DIGIT}`);
  return pass('keys', `the connection stays after the key ${DIGIT}`);
}

function hungUp({ hasHungUp, end }: CheckedCall): Finding {
  if (hasHungUp) return pass('hang-up', 'by a message of the bot');
  if (!end?.isPeers) return skipped('hang-up', 'the bot did not hang up');
  const detail = `the bot closed after ${end.atMs} ms with ${end.code}`;
  return isOrderly(end.code) ? pass('hang-up', detail) : fail('hang-up', detail);
}
