import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import { normalizeNumber } from '../../base/values/e164.ts';
import type { CallLeg, InboundCall, LegEnd, Telephony } from '../../calls/telephony.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import { type Behaviour, type BehaviourInput, behaviour } from './script.ts';
import {
  runSimulatedCaller,
  type SimulatedCallerDeps,
  type SimulatedCallerEvent,
} from './simulatedCaller.ts';

export interface SimulatedPhonesDeps extends Omit<SimulatedCallerDeps, 'onEvent'> {
  readonly telephony: Telephony;
  /** Audio of a call: what the simulated caller hears and says. */
  readonly connectAudio: (media: MediaSession, callId: string) => Promise<AudioStream>;
  readonly clock: Clock;
  readonly makeId: () => string;
  readonly onEvent?: (number: string, event: SimulatedCallerEvent) => void;
  readonly onError: (error: unknown, what: string) => void;
}

export interface SimulatedCall {
  /** Address of the called side. */
  readonly trunk: Trunk;
  readonly fromNumber: string;
  readonly toNumber: string;
  /** The caller's behaviour once the call is answered. */
  readonly how: Extract<BehaviourInput, { kind: 'answers' }>;
  readonly ringTimeoutMs?: number;
}

type Answering = Extract<Behaviour, { kind: 'answers' }>;

const DEFAULT_RING_TIMEOUT_MS = 30_000;

/** Simulated phones over real SIP and RTP. */
export class SimulatedPhones {
  readonly #deps: SimulatedPhonesDeps;
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #legs = new Map<CallLeg, Promise<LegEnd>>();
  #isClosed = false;

  constructor(deps: SimulatedPhonesDeps) {
    this.#deps = deps;
    deps.telephony.onInboundCall((call) => this.#receive(call));
  }

  /** Number of running calls. */
  get active(): number {
    return this.#legs.size;
  }

  /**
   * Sets how the phone with this number reacts to calls. Unknown numbers are rejected with 404.
   *
   * @throws {z.ZodError} When the behaviour is invalid.
   */
  set(number: string, input: BehaviourInput): void {
    this.#behaviours.set(normalizeNumber(number) ?? number, behaviour.parse(input));
  }

  /**
   * Places a call.
   *
   * @returns The end of the leg, once it has ended.
   */
  call(wanted: SimulatedCall): Promise<LegEnd> {
    const { trunk, fromNumber, toNumber, ringTimeoutMs = DEFAULT_RING_TIMEOUT_MS } = wanted;
    const answering = behaviour.parse(wanted.how);
    if (answering.kind !== 'answers') throw new TypeError('a caller needs the behaviour "answers"');
    const { projectId } = trunk;
    const callId = this.#deps.makeId();
    const mayRedirectTo = async () => false;
    const request = { projectId, callId, trunk, fromNumber, toNumber, ringTimeoutMs, mayRedirectTo };
    const leg = this.#deps.telephony.dial(request);
    return this.#follow(leg, fromNumber, answering);
  }

  /** Rejects new calls and hangs up the running ones. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      [...this.#legs].map(async ([leg, ended]) => {
        await leg.hangup();
        await ended;
      }),
    );
  }

  #receive(call: InboundCall): void {
    const reaction = this.#behaviours.get(call.toNumber);
    if (this.#isClosed || !reaction) {
      call.reject(this.#isClosed ? 480 : 404, 'unknown_number');
      return;
    }
    if (reaction.kind === 'refuses' && reaction.afterMs === 0) {
      call.reject(reaction.sipCode, 'declined_by_agent');
      return;
    }
    call.ring();
    if (reaction.kind === 'never_answers') return;
    this.#deps.clock.setTimer(() => {
      if (call.canceled.aborted) return;
      if (reaction.kind === 'refuses') call.reject(reaction.sipCode, 'declined_by_agent');
      else {
        this.#answer(call, reaction).catch((error: unknown) =>
          this.#deps.onError(error, 'simulated call not answered'),
        );
      }
    }, reaction.afterMs);
  }

  async #answer(call: InboundCall, answering: Answering): Promise<void> {
    await this.#follow(await call.answer(this.#deps.makeId()), call.toNumber, answering);
  }

  /** Follows a leg to its end; the script starts when it is answered. */
  #follow(leg: CallLeg, number: string, answering: Answering): Promise<LegEnd> {
    const { onError } = this.#deps;
    const ended = new Promise<LegEnd>((resolve) => {
      leg.events.on('answered', () => {
        this.#runScript(leg, number, answering).catch((error: unknown) => {
          onError(error, `simulated caller ${number} failed`);
          void leg.hangup();
        });
      });
      leg.events.on('ended', (end) => {
        void Promise.resolve(leg.media?.close())
          .catch((error: unknown) => onError(error, `audio of ${number} could not be closed`))
          .then(() => {
            this.#legs.delete(leg);
            resolve(end);
          });
      });
    });
    this.#legs.set(leg, ended);
    return ended;
  }

  async #runScript(leg: CallLeg, number: string, { script, stays }: Answering): Promise<void> {
    const { media } = leg;
    if (!media) throw new Error('the leg has no audio');
    media.events.on('command', (command) => {
      if (command.kind === 'hangup') void leg.hangup();
      else if (command.kind === 'send_dtmf')
        leg.sendDtmf(command.digits).catch((error: unknown) => {
          // The other party may hang up while a digit is sent.
          if (!isConflict(error)) this.#deps.onError(error, `digit of ${number} not sent`);
        });
    });
    const stream = await this.#deps.connectAudio(media, leg.sipCallId).catch((error: unknown) => {
      if (!isConflict(error)) throw error;
    });
    const onEvent = (event: SimulatedCallerEvent) => this.#deps.onEvent?.(number, event);
    // The other party hung up first.
    if (!stream) return onEvent({ kind: 'hung_up', atMs: 0, by: 'peer' });
    await runSimulatedCaller(stream, script, stays, { ...this.#deps, onEvent });
    stream.close();
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof CallwayError && error.category === 'conflict';
}
