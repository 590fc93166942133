import type { Logger } from 'pino';
import { limitConcurrency } from '../../base/async/limitConcurrency.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import type { ExpectedTestCalls, TestCall } from '../../calls/setup/testCall.ts';
import type { Impairment } from '../../media/transport/packetIo.ts';
import type { TextToSpeech } from '../../models/ports/textToSpeech.ts';
import type { KnownPeer } from '../../telephony/control/sipServer.ts';
import { type Line, openLine } from '../../testing/phone/line.ts';
import type { SimulatedCallers } from '../../testing/phone/playPhone.ts';
import { createLocalTextToSpeech } from '../../vendors/local/textToSpeech.ts';
import { Lifecycle } from '../lifecycle.ts';
import { type Carrier, LOOPBACK, startCarrier } from './carrier.ts';

/** The time without a call after which its threads are stopped. */
const IDLE_MS = 60_000;
const PEER_NAME = 'simulated callers';
/** Many at once would all be late. */
const CALLS_IN_SETUP = 2;
const MAX_WAITING = 1_000;
/** Sentences of people in the background. */
const SMALL_TALK: readonly (readonly [voice: string, text: string])[] = [
  ['slt', 'I told him that the meeting was on Thursday, but he never writes anything down.'],
  ['rms', 'Could you pass me the folder? The other one. Yes, that is what I was looking for.'],
  ['slt', 'We went to the lake last weekend, and the weather was lovely until the evening.'],
  ['rms', 'Two coffees and a tea, please, and could we have the window table over there?'],
];

export interface TestCallersDeps {
  readonly testCalls: ExpectedTestCalls;
  /** Tells the node's SIP server who calls. */
  readonly setKnownPeers: (peers: readonly KnownPeer[]) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Opened {
  readonly carrier: Carrier;
  readonly lifecycle: Lifecycle;
}

/** Simulated callers with a SIP server and a media thread of their own, which run while they are needed. */
export class TestCallers implements SimulatedCallers {
  readonly textToSpeech: TextToSpeech = createLocalTextToSpeech({ threads: 1 });
  readonly #deps: TestCallersDeps;
  readonly #inTurn = limitConcurrency({
    running: CALLS_IN_SETUP,
    waiting: MAX_WAITING,
    full: () => new Error('too many simulated calls wait'),
  });
  readonly #impairments = new Map<string, Impairment>();
  #opened: Promise<Opened> | undefined;
  #idle: Timer | undefined;
  #background: Promise<readonly Int16Array[]> | undefined;

  constructor(deps: TestCallersDeps) {
    this.#deps = deps;
  }

  async call(call: TestCall, impairment: Impairment, signal: AbortSignal): Promise<Line> {
    const { testCalls, clock } = this.#deps;
    this.#idle?.cancel();
    this.#impairments.set(call.callId, impairment);
    try {
      const { carrier } = await this.#open();
      const { telephony, connectAudio } = carrier;
      const deps = { telephony, connectAudio, testCalls, now: clock.now };
      const line = await this.#inTurn(() => openLine(deps, call, signal));
      void line.ended.then(() => this.#release(call));
      return line;
    } catch (error) {
      this.#release(call);
      throw error;
    }
  }

  background(): Promise<readonly Int16Array[]> {
    this.#background ??= Promise.all(SMALL_TALK.map(([voice, text]) => this.#say(voice, text))).catch(
      (error: unknown) => {
        this.#background = undefined;
        throw error;
      },
    );
    return this.#background;
  }

  /** Idempotent; after the last call. */
  async close(): Promise<void> {
    this.#idle?.cancel();
    await this.#stop();
    await this.textToSpeech.close?.();
  }

  #release({ callId }: TestCall): void {
    this.#impairments.delete(callId);
    if (this.#impairments.size > 0) return;
    this.#idle = this.#deps.clock.setTimer(() => void this.#stop(), IDLE_MS);
  }

  #open(): Promise<Opened> {
    this.#opened ??= this.#start().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #start(): Promise<Opened> {
    const logger = this.#deps.logger.child({ part: 'simulator' });
    const lifecycle = new Lifecycle((error) => logger.error({ err: error }, 'close failed'));
    try {
      const impairmentOf = (callId: string) => this.#impairments.get(callId);
      const carrier = await startCarrier({ impairmentOf, logger }, lifecycle);
      const sources = [`${LOOPBACK}:${carrier.sipPort}`];
      this.#deps.setKnownPeers([{ name: PEER_NAME, sources, mayBePrivate: true }]);
      return { carrier, lifecycle };
    } catch (error) {
      await lifecycle.close();
      throw error;
    }
  }

  async #stop(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    this.#deps.setKnownPeers([]);
    const { lifecycle } = (await opened?.catch(() => undefined)) ?? {};
    await lifecycle?.close();
  }

  async #say(voice: string, text: string): Promise<Int16Array> {
    const pieces: number[] = [];
    const { signal } = new AbortController();
    for await (const piece of this.textToSpeech.synthesize({ text, voice }, signal)) pieces.push(...piece);
    return Int16Array.from(pieces);
  }
}
