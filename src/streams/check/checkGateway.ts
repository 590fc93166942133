import { withTimeout } from '../../base/async/withTimeout.ts';
import type { Clock } from '../../base/values/clock.ts';
import type {
  DialectServer,
  GatewayMessageHandler,
  StreamDialect,
  StreamMessage,
  StreamStart,
} from '../../dialects/dialect.ts';
import { type DialectName, findAudioDialect } from '../../dialects/index.ts';
import { shown } from '../../dialects/wire/botRules.ts';
import type { MarkReport } from '../../media/agentStream/streamClient.ts';
import { CLOSE_NORMAL, type StreamSocket } from '../transport/streamSocket.ts';
import { closed, type Finding, fail, Problems, pass, skipped } from './finding.ts';
import { connectionOf, follow } from './sockets.ts';

export interface GatewayCheck {
  readonly dialect: DialectName;
  /** Open, from the gateway. */
  readonly socket: StreamSocket;
  readonly clock: Clock;
}

/** Carriers send the start right after connecting. */
const START_TIMEOUT_MS = 5000;
/** The first tone is played to its end, the second is cleared in its middle. */
const FIRST_TONE_MS = 2000;
const SECOND_TONE_AT_MS = 3500;
const SECOND_TONE_MS = 6000;
const CLEAR_AT_MS = 5000;
const HANG_UP_AT_MS = 8000;
/** A gateway reports what it has played within some frames, and its network takes a moment. */
const MARK_TOLERANCE_MS = 250;
const MARK_TIMEOUT_MS = 1000;
const CLOSE_TIMEOUT_MS = 5000;
/** The caller's audio may be this far ahead of real time, this far behind it, and may pause this long. */
const MAX_AHEAD_MS = 1000;
const MAX_BEHIND_MS = 1500;
const MAX_GAP_MS = 1000;
const TONE_HZ = 440;
const TONE_LEVEL = 6000;
const PLAYED = 'check-played';
const CLEARED = 'check-cleared';

/** Plays a bot's side of a call of a carrier or a PBX, and tells what the gateway does wrong. Closes the connection. */
export async function checkGateway(options: GatewayCheck): Promise<readonly Finding[]> {
  const call = new BotCall(options);
  await call.run();
  return call.findings();
}

interface ReturnedMark {
  readonly atMs: number;
  readonly outcome: MarkReport['outcome'] | undefined;
}

class BotCall {
  readonly #options: GatewayCheck;
  readonly #server: DialectServer;
  readonly #dialect: StreamDialect;
  readonly #problems = new Problems();
  readonly #started: Promise<void>;
  readonly #closed: Promise<void>;
  #resolveStarted: () => void = () => undefined;
  #start: StreamStart | undefined;
  #refusal = `no start message came within ${START_TIMEOUT_MS} ms`;
  #startedAtMs = 0;
  #receivedSamples = 0;
  #lastAudioAtMs: number | undefined;
  #maxAheadMs = 0;
  #maxGapMs = 0;
  #digits = '';
  readonly #marks = new Map<string, ReturnedMark>();
  #isStopped = false;
  /** The gateway did not close after the end. */
  #isLeftOpen = false;
  #hangUpAtMs: number | undefined;
  #end: { readonly code: number; readonly atMs: number } | undefined;

  constructor(options: GatewayCheck) {
    const { dialect: name, socket } = options;
    this.#options = options;
    this.#dialect = findAudioDialect(name);
    this.#server = this.#dialect.openServer(connectionOf(socket));
    this.#started = new Promise((resolve) => {
      this.#resolveStarted = resolve;
    });
    const onClose = (code: number) => {
      this.#end = { code, atMs: this.#nowMs };
      this.#resolveStarted();
    };
    this.#closed = follow(socket, (message) => this.#receive(message), onClose);
  }

  async run(): Promise<void> {
    const { clock, socket } = this.#options;
    await withTimeout(clock, this.#started, START_TIMEOUT_MS);
    if (this.#start !== undefined) await this.#talk(this.#start.sampleRateHz);
    else socket.close(CLOSE_NORMAL, 'no start');
    await withTimeout(clock, this.#closed, CLOSE_TIMEOUT_MS);
    if (this.#end !== undefined) return;
    this.#isLeftOpen = true;
    socket.terminate();
  }

  findings(): readonly Finding[] {
    if (this.#start === undefined) return [fail('start', this.#refusal)];
    const { sampleRateHz, customParameters } = this.#start;
    const names = Object.keys(customParameters);
    const parameters = names.length === 0 ? 'no custom parameters' : `custom parameters: ${names.join(', ')}`;
    return [
      pass('start', `${sampleRateHz} Hz, ${parameters}`),
      this.#problems.or(pass('messages', 'all can be read')),
      this.#audio(sampleRateHz),
      this.#pacing(sampleRateHz),
      this.#playedMark(),
      this.#clearedMark(),
      this.#digits === '' ? skipped('keys', 'none was pressed') : pass('keys', `${this.#digits} was pressed`),
      this.#hangUp(),
      this.#closing(),
    ];
  }

  /** Since the start of the stream. */
  get #nowMs(): number {
    return Math.round(this.#options.clock.monotonicMs() - this.#startedAtMs);
  }

  get #isOver(): boolean {
    return this.#isStopped || this.#end !== undefined;
  }

  async #talk(sampleRateHz: number): Promise<void> {
    this.#server.play(tone(sampleRateHz, FIRST_TONE_MS));
    this.#server.mark(PLAYED);
    await this.#until(SECOND_TONE_AT_MS);
    if (this.#isOver) return;
    this.#server.play(tone(sampleRateHz, SECOND_TONE_MS));
    this.#server.mark(CLEARED);
    await this.#until(CLEAR_AT_MS);
    if (this.#isOver) return;
    this.#server.clear();
    await this.#until(HANG_UP_AT_MS);
    if (this.#isOver) return;
    this.#hangUpAtMs = this.#nowMs;
    this.#server.command({ kind: 'hangup' });
  }

  async #until(atMs: number): Promise<void> {
    await withTimeout(this.#options.clock, this.#closed, Math.max(0, atMs - this.#nowMs));
  }

  #receive(message: StreamMessage): void {
    if (this.#start === undefined) {
      const start = this.#server.readStart(message);
      if (start === undefined) {
        this.#receiveBeforeStart(message);
        return;
      }
      if (typeof start === 'string') this.#refusal = start;
      else {
        this.#start = start;
        this.#startedAtMs = this.#options.clock.monotonicMs();
      }
      this.#resolveStarted();
    }
    this.#server.read(message, this.#reader(message));
  }

  /** Reports audio and unreadable messages before the start message, which a bot would lose. A greeting is allowed. */
  #receiveBeforeStart(message: StreamMessage): void {
    if (typeof message !== 'string') return;
    const lost = () => this.#problems.add('messages', `came before the start: ${shown(message)}`);
    this.#server.read(message, { ...this.#reader(message), audio: lost, malformed: lost });
  }

  #reader(message: StreamMessage): GatewayMessageHandler {
    return {
      audio: (samples) => this.#onAudio(samples.length),
      dtmf: (digit) => {
        this.#digits += digit;
      },
      mark: (name, report) => {
        if (name !== PLAYED && name !== CLEARED)
          this.#problems.add('marks', `the mark "${name}" was never sent`);
        else if (this.#marks.has(name)) this.#problems.add('marks', `the mark "${name}" was returned twice`);
        else this.#marks.set(name, { atMs: this.#nowMs, outcome: report?.outcome });
      },
      cleared: () => undefined,
      hold: () => undefined,
      transferStatus: () => undefined,
      control: () => undefined,
      request: () => undefined,
      stopped: () => {
        this.#isStopped = true;
        this.#options.socket.close(CLOSE_NORMAL, 'the call has ended');
      },
      malformed: () => this.#problems.add('messages', `cannot be read: ${shown(message)}`),
    };
  }

  #onAudio(samples: number): void {
    const { sampleRateHz } = this.#start ?? { sampleRateHz: 1 };
    const nowMs = this.#nowMs;
    if (this.#lastAudioAtMs !== undefined)
      this.#maxGapMs = Math.max(this.#maxGapMs, nowMs - this.#lastAudioAtMs);
    this.#lastAudioAtMs = nowMs;
    this.#receivedSamples += samples;
    const receivedMs = (this.#receivedSamples * 1000) / sampleRateHz;
    this.#maxAheadMs = Math.max(this.#maxAheadMs, Math.round(receivedMs - nowMs));
  }

  #audio(sampleRateHz: number): Finding {
    const receivedMs = Math.round((this.#receivedSamples * 1000) / sampleRateHz);
    if (receivedMs === 0) return fail('audio', 'the gateway sent none');
    return pass('audio', `${receivedMs} ms of the caller received`);
  }

  #pacing(sampleRateHz: number): Finding {
    if (this.#lastAudioAtMs === undefined) return skipped('pacing', 'the gateway sent no audio');
    const behindMs = Math.round(this.#lastAudioAtMs - (this.#receivedSamples * 1000) / sampleRateHz);
    if (this.#maxAheadMs > MAX_AHEAD_MS)
      return fail('pacing', `the caller's audio is ${this.#maxAheadMs} ms ahead of real time`);
    if (this.#maxGapMs > MAX_GAP_MS)
      return fail('pacing', `the caller's audio pauses for ${this.#maxGapMs} ms; silence is audio too`);
    if (behindMs > MAX_BEHIND_MS) return fail('pacing', `${behindMs} ms of the caller's audio are missing`);
    return pass('pacing', `in real time, the longest pause ${this.#maxGapMs} ms`);
  }

  #playedMark(): Finding {
    if (this.#dialect.hasNoMarks) return skipped('marks', 'the dialect has none');
    const mark = this.#marks.get(PLAYED);
    if (mark === undefined && (this.#end?.atMs ?? 0) < SECOND_TONE_AT_MS)
      return skipped('marks', 'the gateway ended the call before');
    if (mark === undefined || mark.outcome === 'cleared')
      return fail('marks', 'the mark behind a tone that was played was not returned as played');
    const lateMs = mark.atMs - FIRST_TONE_MS;
    if (lateMs < -MARK_TOLERANCE_MS)
      return fail('marks', `a mark behind ${FIRST_TONE_MS} ms of audio was returned after ${mark.atMs} ms`);
    if (lateMs > MARK_TIMEOUT_MS)
      return fail(
        'marks',
        `a mark was returned ${lateMs} ms after the audio before it should have been played`,
      );
    return this.#problems.or(
      pass('marks', `returned ${mark.atMs} ms after ${FIRST_TONE_MS} ms of audio were sent`),
    );
  }

  #clearedMark(): Finding {
    if (this.#dialect.hasNoMarks) return skipped('clear', 'the dialect has none');
    if ((this.#end?.atMs ?? 0) < CLEAR_AT_MS + MARK_TIMEOUT_MS)
      return skipped('clear', 'the gateway ended the call before');
    const mark = this.#marks.get(CLEARED);
    const afterMs = (mark?.atMs ?? 0) - CLEAR_AT_MS;
    if (this.#dialect.botRules?.returnsPlayedMarksOnly)
      return mark === undefined
        ? pass('clear', 'the mark behind the cleared audio was dropped')
        : fail('clear', `the mark behind cleared audio was returned, ${afterMs} ms after the clear`);
    if (mark === undefined) return fail('clear', 'the mark behind the cleared audio was not returned');
    if (mark.outcome === 'played')
      return fail('clear', 'the mark behind cleared audio was returned as played');
    if (afterMs < 0) return fail('clear', `a mark was returned ${-afterMs} ms before its audio was cleared`);
    return afterMs <= MARK_TIMEOUT_MS
      ? pass('clear', `the mark was returned ${afterMs} ms after the clear`)
      : fail('clear', `the mark was returned ${afterMs} ms after the clear, as if the audio was played`);
  }

  #hangUp(): Finding {
    const atMs = this.#hangUpAtMs;
    if (atMs === undefined) return skipped('hang-up', 'the gateway ended the call before');
    const afterMs = (this.#end?.atMs ?? 0) - atMs;
    return this.#isLeftOpen
      ? fail('hang-up', `not closed within ${CLOSE_TIMEOUT_MS} ms after the bot hung up`)
      : pass('hang-up', `closed ${afterMs} ms after the bot hung up`);
  }

  #closing(): Finding {
    const { code } = this.#end ?? {};
    if (this.#isLeftOpen || code === undefined)
      return fail('closing', `not closed within ${CLOSE_TIMEOUT_MS} ms after the end of the call`);
    return closed(code);
  }
}

function tone(sampleRateHz: number, durationMs: number): Int16Array {
  const turn = (2 * Math.PI * TONE_HZ) / sampleRateHz;
  return new Int16Array((sampleRateHz * durationMs) / 1000).map((_, n) =>
    Math.round(TONE_LEVEL * Math.sin(turn * n)),
  );
}
