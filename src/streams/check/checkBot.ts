import { withTimeout } from '../../base/async/withTimeout.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { AgentReader, BotRules, DialectClient, StreamMessage } from '../../dialects/dialect.ts';
import { shown } from '../../dialects/wire/botRules.ts';
import { PlayoutQueue } from '../../media/agentStream/playoutQueue.ts';
import type { StreamTarget } from '../../media/agentStream/streamClient.ts';
import { FRAME_MS } from '../../media/codecs/codec.ts';
import { atRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import { CLOSE_NORMAL, type StreamSocket } from '../transport/streamSocket.ts';
import { type CarrierDialectName, findCarrierDialect } from './carrierDialects.ts';
import { closed, type Finding, fail, isOrderly, Problems, pass, skipped } from './finding.ts';
import { connectionOf, follow } from './sockets.ts';

/** The buffer of a carrier that documents none: as much as our own gateway holds. */
const UNDOCUMENTED_BUFFER_MS = 120_000;

export interface BotCheck {
  readonly dialect: CarrierDialectName;
  /** Open, to the bot. */
  readonly socket: StreamSocket;
  readonly clock: Clock;
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

/** Plays a carrier's or a PBX's side of a call with a bot, and tells what the bot does wrong. Closes the connection. */
export async function checkBot(options: BotCheck): Promise<readonly Finding[]> {
  const call = new CarrierCall(options);
  await call.run();
  return call.findings();
}

/** The caller spoke while the bot's audio was queued. */
interface Interruption {
  readonly atMs: number;
  readonly queuedMs: number;
  clearedAtMs?: number;
}

class CarrierCall {
  readonly #options: BotCheck;
  readonly #rules: BotRules;
  readonly #client: DialectClient;
  readonly #queue: PlayoutQueue;
  readonly #problems = new Problems();
  readonly #speech: Int16Array;
  readonly #frame: Int16Array;
  readonly #closed: Promise<void>;
  /** The position in the caller's audio. */
  #position = 0;
  #toSay: Int16Array = new Int16Array(0);
  #audioSamples = 0;
  #maxQueuedMs = 0;
  #marks = 0;
  #answeredMarks = 0;
  #clears = 0;
  #interruption: Interruption | undefined;
  #pressedAtMs: number | undefined;
  #hasHungUp = false;
  #isOver = false;
  /** The bot did not close after the call's end. */
  #isLeftOpen = false;
  #end: { readonly code: number; readonly atMs: number; readonly isBots: boolean } | undefined;

  constructor(options: BotCheck) {
    const { dialect, socket, target, sampleRateHz, speech } = options;
    this.#options = options;
    const { botRules = {}, openClient } = findCarrierDialect(dialect);
    this.#rules = botRules;
    const onClose = (code: number) => {
      this.#end = { code, atMs: this.#nowMs, isBots: !this.#isOver };
    };
    this.#closed = follow(socket, (message) => this.#receive(message), onClose);
    const call = { url: '', dialect, callId: target.streamId, canReconnect: false, ...target };
    this.#client = openClient(connectionOf(socket), {
      target: call,
      sampleRateHz,
    });
    const rateHz = this.#client.sampleRateHz;
    this.#speech = atRate(speech, SPEECH_RATE_HZ, rateHz);
    this.#frame = new Int16Array((rateHz * FRAME_MS) / 1000);
    this.#queue = new PlayoutQueue({
      sampleRateHz: rateHz,
      onMark: ({ name, outcome }) => {
        this.#answeredMarks++;
        this.#client.mark({ name, outcome, ...this.#playoutPosition });
      },
    });
  }

  async run(): Promise<void> {
    const { clock, durationMs, socket } = this.#options;
    const startedMs = clock.monotonicMs();
    while (this.#nowMs < durationMs && this.#end === undefined && !this.#hasHungUp) {
      this.#tick(durationMs);
      const waitMs = Math.max(0, startedMs + this.#nowMs - clock.monotonicMs());
      await new Promise<void>((resolve) => void clock.setTimer(resolve, waitMs));
    }
    if (this.#end !== undefined) return;
    this.#isOver = true;
    this.#client.stop();
    if (!this.#client.agentClosesAfterStop) socket.close(CLOSE_NORMAL, 'the call has ended');
    await withTimeout(clock, this.#closed, CLOSE_TIMEOUT_MS);
    if (this.#end !== undefined) return;
    this.#isLeftOpen = true;
    socket.terminate();
  }

  findings(): readonly Finding[] {
    return [
      this.#problems.or(pass('messages', 'all can be read')),
      this.#audio(),
      this.#problems.or(pass('formats', `${this.#client.sampleRateHz} Hz, as the stream has it`)),
      this.#pacing(),
      this.#problems.or(
        this.#marks > 0
          ? pass('marks', `${this.#marks} sent; ${this.#answeredMarks} were played or cleared`)
          : skipped('marks', 'the bot sent none'),
      ),
      this.#clear(),
      this.#keys(),
      this.#hangUp(),
      this.#closing(),
    ];
  }

  /** On the stream's clock. */
  get #nowMs(): number {
    return (this.#position * 1000) / (this.#client?.sampleRateHz ?? SPEECH_RATE_HZ);
  }

  get #queuedMs(): number {
    return Math.round((this.#queue.queuedSamples * 1000) / this.#client.sampleRateHz);
  }

  get #playoutPosition() {
    const { playedPosition: playedSamples } = this.#queue;
    return { playedSamples, receivedSamples: this.#position, bufferDelayMs: 0 };
  }

  #tick(durationMs: number): void {
    const reached = (share: number) => {
      const atMs = share * durationMs;
      return this.#nowMs >= atMs && this.#nowMs < atMs + FRAME_MS;
    };
    if (SPEAK_AT.some(reached)) this.#speak();
    if (reached(PRESS_AT)) {
      this.#pressedAtMs = this.#nowMs;
      this.#client.dtmf(DIGIT, DIGIT_MS);
    }
    const frame = new Int16Array(this.#frame.length);
    frame.set(this.#toSay.subarray(0, frame.length));
    this.#toSay = this.#toSay.subarray(frame.length);
    this.#client.audio(frame, this.#position);
    this.#position += frame.length;
    this.#queue.pull(this.#frame);
  }

  #speak(): void {
    this.#toSay = this.#speech;
    const queuedMs = this.#queuedMs;
    if (queuedMs >= MIN_INTERRUPTED_MS) this.#interruption ??= { atMs: this.#nowMs, queuedMs };
  }

  #receive(message: StreamMessage): void {
    if (this.#isOver) return;
    const problem = this.#rules.problemOf?.(message, this.#options.target.streamId);
    if (problem) this.#problems.add(problem.check, problem.detail);
    this.#client.read(message, this.#reader(message, problem !== undefined));
  }

  #reader(message: StreamMessage, isReported: boolean): AgentReader {
    return {
      audio: (samples) => {
        this.#audioSamples += samples.length;
        this.#queue.enqueue(samples);
        this.#maxQueuedMs = Math.max(this.#maxQueuedMs, this.#queuedMs);
      },
      mark: (name) => {
        this.#marks++;
        this.#queue.mark(name);
      },
      clear: () => {
        this.#clears++;
        if (this.#interruption) this.#interruption.clearedAtMs ??= this.#nowMs;
        this.#queue.clear();
        this.#client.cleared?.(this.#playoutPosition);
      },
      command: ({ kind }) => {
        this.#hasHungUp ||= kind === 'hangup';
      },
      failoverPrompts: () => undefined,
      malformed: () => {
        if (!isReported) this.#problems.add('messages', `cannot be read: ${shown(message)}`);
      },
    };
  }

  #audio(): Finding {
    const receivedMs = Math.round((this.#audioSamples * 1000) / this.#client.sampleRateHz);
    if (receivedMs > 0) return pass('audio', `${receivedMs} ms received`);
    if (this.#options.isListenOnly) return skipped('audio', 'the bot only listens');
    return fail('audio', 'the bot sent none, neither as a greeting nor after words of the caller');
  }

  #pacing(): Finding {
    const { bufferMs = UNDOCUMENTED_BUFFER_MS } = this.#rules;
    const ahead = `at most ${this.#maxQueuedMs} ms ahead of its playout`;
    if (this.#audioSamples === 0) return skipped('pacing', 'the bot sent no audio');
    if (this.#maxQueuedMs <= bufferMs) return pass('pacing', ahead);
    return fail('pacing', `${this.#maxQueuedMs} ms ahead of its playout; the limit is ${bufferMs} ms`);
  }

  #clear(): Finding {
    const interruption = this.#interruption;
    if (this.#rules.hasNoClear) return skipped('clear', 'the dialect has none');
    if (interruption === undefined)
      return this.#problems.or(
        this.#clears > 0
          ? pass('clear', `${this.#clears} sent`)
          : skipped('clear', `the caller never spoke over ${MIN_INTERRUPTED_MS} ms of queued audio`),
      );
    const { atMs, queuedMs, clearedAtMs = Number.POSITIVE_INFINITY } = interruption;
    const afterMs = clearedAtMs - atMs;
    if (afterMs <= CLEAR_TIMEOUT_MS)
      return this.#problems.or(pass('clear', `${afterMs} ms after the caller began to speak`));
    const left = `${queuedMs} ms of the bot's audio were queued when the caller spoke`;
    return fail('clear', `${left}, and no clear came within ${CLEAR_TIMEOUT_MS} ms`);
  }

  #keys(): Finding {
    if (this.#pressedAtMs === undefined) return skipped('keys', 'the call ended before a key was pressed');
    const end = this.#end;
    if (end?.isBots && !isOrderly(end.code))
      return fail('keys', `the connection ended with ${end.code} after the key ${DIGIT}`);
    return pass('keys', `the connection stays after the key ${DIGIT}`);
  }

  #hangUp(): Finding {
    const end = this.#end;
    if (this.#hasHungUp) return pass('hang-up', 'by a message of the bot');
    if (!end?.isBots) return skipped('hang-up', 'the bot did not hang up');
    const detail = `the bot closed after ${end.atMs} ms with ${end.code}`;
    return isOrderly(end.code) ? pass('hang-up', detail) : fail('hang-up', detail);
  }

  #closing(): Finding {
    const { code, isBots } = this.#end ?? {};
    if (this.#isLeftOpen)
      return fail('closing', `not closed within ${CLOSE_TIMEOUT_MS} ms after the end of the call`);
    if (isBots || code === undefined) return skipped('closing', 'the bot closed first');
    return closed(code);
  }
}
