import { CallwayError } from '../../../../src/base/errors.ts';
import type { CallLeg, InboundCall } from '../../../../src/calls/telephony.ts';
import type { Trunk } from '../../../../src/calls/trunks/trunk.ts';
import { createAudio } from './audio.ts';
import { FakeLeg, type PhoneFate, type WireCall } from './fakeLeg.ts';
import type { Life } from './gates.ts';
import type { IncomingPerson, PhonesDeps } from './phones.ts';

/** Of somebody who does not say how long. */
const LONGEST_TALK_MS = 40_000;

/** Somebody who calls, and hangs up when it is enough. */
export class Caller implements IncomingPerson {
  readonly incoming: InboundCall;
  readonly #deps: PhonesDeps;
  readonly #canceled = new AbortController();
  #isDecided = false;
  #leg: FakeLeg | undefined;

  constructor(deps: PhonesDeps, life: Life, trunk: Trunk, fate: PhoneFate, wire: WireCall[]) {
    this.#deps = deps;
    this.incoming = {
      sipCallId: 'sip-in',
      projectId: trunk.projectId,
      trunk,
      fromNumber: '+886912345678',
      toNumber: '+886223456789',
      number: deps.numberOf(trunk),
      ring: () => undefined,
      prepareMedia: () => undefined,
      answer: (callId) => this.#answer(life, trunk, fate, wire, callId),
      reject: () => {
        this.#isDecided = true;
      },
      canceled: this.#canceled.signal,
    };
  }

  cancel(): void {
    if (this.#leg) this.#leg.call.hangUp();
    else if (!this.#isDecided) {
      this.#isDecided = true;
      this.#canceled.abort();
    }
  }

  async #answer(
    life: Life,
    trunk: Trunk,
    fate: PhoneFate,
    wire: WireCall[],
    callId: string,
  ): Promise<CallLeg> {
    const { gates, audio } = this.#deps;
    if (this.#isDecided) throw new CallwayError('gone', 'call_canceled', 'gone');
    this.#isDecided = true;
    await gates.pass('audio is opened');
    if (audio.refuses) throw new CallwayError('unavailable', 'media_unavailable', 'no thread');
    const leg = new FakeLeg(this.#deps, life, trunk, {
      callId,
      isSecond: false,
      state: { kind: 'awaitingAck' },
    });
    leg.confirm(createAudio(gates, audio), wire);
    leg.call.log.push('200');
    leg.call.isUp = true;
    await gates.pass('200 goes out');
    this.#leg = leg;
    void gates.pass('ACK comes').then(() => {
      leg.dispatch({ kind: 'acknowledged' });
      const talksMs = (fate.kind === 'answers' ? fate.talksMs : null) ?? LONGEST_TALK_MS;
      gates.clock.setTimer(() => void gates.pass('caller hangs up').then(() => leg.call.hangUp()), talksMs);
    });
    setImmediate(() => leg.release());
    return leg.leg;
  }
}
