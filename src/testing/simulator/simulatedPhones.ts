import type { Clock } from '../../base/clock.ts';
import { CallwayError } from '../../base/errors.ts';
import { normalizeNumber } from '../../calls/numbers/number.ts';
import type { CallLeg, DialRequest, InboundCall, LegEnd, Telephony } from '../../calls/telephony.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import type { AudioStream } from '../../voice/audioStream.ts';
import { type Behaviour, type BehaviourInput, behaviour } from './script.ts';
import {
  runSimulatedCaller,
  type SimulatedCallerDeps,
  type SimulatedCallerEvent,
} from './simulatedCaller.ts';

export interface SimulatedPhonesDeps extends Omit<SimulatedCallerDeps, 'onEvent'> {
  readonly telephony: Telephony;
  /** The near end of a call's audio: what the person hears and says. */
  readonly connectAudio: (media: MediaSession, callId: string) => Promise<AudioStream>;
  readonly clock: Clock;
  readonly makeId: () => string;
  readonly onEvent?: (number: string, event: SimulatedCallerEvent) => void;
  readonly onError: (error: unknown, what: string) => void;
}

/** Phones with people at them, over real SIP and RTP. */
export interface SimulatedPhones {
  /**
   * How the phone of this number meets calls from now on; a number that nobody has is 404.
   *
   * @throws {z.ZodError} When the behaviour is none.
   */
  set(number: string, how: BehaviourInput): void;
  /**
   * Calls somebody.
   *
   * @returns How the leg ended, once it has.
   */
  call(request: SimulatedCall): Promise<LegEnd>;
  /** Calls that are going on. */
  readonly active: number;
  /** Takes no more calls, and hangs up what is going on. Idempotent. */
  close(): Promise<void>;
}

export interface SimulatedCall {
  /** Where the other side takes calls. */
  readonly trunk: Trunk;
  readonly fromNumber: string;
  readonly toNumber: string;
  /** What the caller does once somebody answers. */
  readonly how: Extract<BehaviourInput, { kind: 'answers' }>;
  readonly ringTimeoutMs?: number;
}

const DEFAULT_RING_TIMEOUT_MS = 30_000;

export function createSimulatedPhones(deps: SimulatedPhonesDeps): SimulatedPhones {
  const phones = new Map<string, Behaviour>();
  const legs = new Map<CallLeg, Promise<LegEnd>>();
  let isClosed = false;

  /** Follows a leg to its end; the person talks once it is answered. */
  const attend = (
    leg: CallLeg,
    number: string,
    how: Extract<Behaviour, { kind: 'answers' }>,
  ): Promise<LegEnd> => {
    const ended = new Promise<LegEnd>((resolve) => {
      leg.events.on('answered', () => {
        talk(leg, number, how).catch((error: unknown) => {
          deps.onError(error, `the person at ${number} failed`);
          void leg.hangup();
        });
      });
      leg.events.on('ended', (end) => {
        void Promise.resolve(leg.media?.close())
          .catch((error: unknown) => deps.onError(error, `the audio of ${number} was not closed`))
          .then(() => {
            legs.delete(leg);
            resolve(end);
          });
      });
    });
    legs.set(leg, ended);
    return ended;
  };

  const talk = async (leg: CallLeg, number: string, how: Extract<Behaviour, { kind: 'answers' }>) => {
    const { media } = leg;
    if (!media) throw new Error('the leg has no audio');
    media.events.on('command', (command) => {
      if (command.kind === 'hangup') void leg.hangup();
      else if (command.kind === 'send_dtmf')
        leg.sendDtmf(command.digits).catch((error: unknown) => {
          // Who presses a key just as the other side hangs up presses it into a dead line.
          if (!isConflict(error)) deps.onError(error, `a key of ${number} was not sent`);
        });
    });
    const stream = await deps.connectAudio(media, leg.sipCallId).catch((error: unknown) => {
      if (!isConflict(error)) throw error;
    });
    // The other side hung up before anybody could say a word.
    if (!stream) return;
    await runSimulatedCaller(stream, how.script, how.stays, {
      ...deps,
      onEvent: (event) => deps.onEvent?.(number, event),
    });
    stream.close();
  };

  const pickUp = async (call: InboundCall, how: Extract<Behaviour, { kind: 'answers' }>) => {
    await attend(await call.answer(deps.makeId()), call.toNumber, how);
  };

  const meet = (call: InboundCall, how: Behaviour | undefined) => {
    if (isClosed) return call.reject(480);
    if (!how) return call.reject(404);
    if (how.kind === 'refuses' && how.afterMs === 0) return call.reject(how.sipCode);
    call.ring();
    if (how.kind === 'never_answers') return;
    deps.clock.setTimer(() => {
      if (call.canceled.aborted) return;
      if (how.kind === 'refuses') call.reject(how.sipCode);
      else pickUp(call, how).catch((error: unknown) => deps.onError(error, 'a call was not picked up'));
    }, how.afterMs);
  };

  deps.telephony.onInboundCall((call) => meet(call, phones.get(call.toNumber)));

  return {
    set: (number, how) => void phones.set(normalizeNumber(number) ?? number, behaviour.parse(how)),
    call({ trunk, fromNumber, toNumber, how, ringTimeoutMs = DEFAULT_RING_TIMEOUT_MS }) {
      const parsed = behaviour.parse(how);
      if (parsed.kind !== 'answers') throw new TypeError('a caller needs a script');
      const request: DialRequest = {
        projectId: trunk.projectId,
        callId: deps.makeId(),
        trunk,
        fromNumber,
        toNumber,
        ringTimeoutMs,
      };
      return attend(deps.telephony.dial(request), fromNumber, parsed);
    },
    get active() {
      return legs.size;
    },
    async close() {
      isClosed = true;
      await Promise.all(
        [...legs].map(async ([leg, ended]) => {
          await leg.hangup();
          await ended;
        }),
      );
    },
  };
}

function isConflict(error: unknown): boolean {
  return error instanceof CallwayError && error.category === 'conflict';
}
