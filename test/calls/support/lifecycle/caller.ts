import { CallwayError } from '../../../../src/base/errors.ts';
import type { CallLeg, InboundCall } from '../../../../src/calls/telephony.ts';
import type { Trunk } from '../../../../src/calls/trunks/trunk.ts';
import { createAudio } from './audio.ts';
import { FakeLeg, type InboundCaller, type PhoneFate, type PhonesDeps, type WireCall } from './fakeLeg.ts';
import type { NodeProcess } from './gates.ts';

/** For a caller without a talk time of its own. */
const MAX_TALK_MS = 40_000;

/** A caller, who hangs up after a while. */
export class Caller implements InboundCaller {
  readonly inbound: InboundCall;
  readonly #deps: PhonesDeps;
  readonly #canceled = new AbortController();
  #isDecided = false;
  #leg: FakeLeg | undefined;

  constructor(deps: PhonesDeps, life: NodeProcess, trunk: Trunk, fate: PhoneFate, wire: WireCall[]) {
    this.#deps = deps;
    this.inbound = {
      sipCallId: 'sip-in',
      projectId: trunk.projectId,
      trunk,
      fromNumber: '+886912345678',
      toNumber: '+886223456789',
      number: deps.numberOf(trunk),
      ring: () => undefined,
      prepareMedia: () => undefined,
      answer: (callId) => this.#answer(life, trunk, fate, wire, callId),
      variables: {},
      reject: (code) => {
        this.#isDecided = true;
        return { code, reason: '' };
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
    life: NodeProcess,
    trunk: Trunk,
    fate: PhoneFate,
    wire: WireCall[],
    callId: string,
  ): Promise<CallLeg> {
    const { gates, audio } = this.#deps;
    if (this.#isDecided) throw new CallwayError('gone', 'call_canceled', 'canceled');
    this.#isDecided = true;
    await gates.pass('media session opens');
    if (audio.refuses) throw new CallwayError('unavailable', 'media_unavailable', 'no thread');
    const leg = new FakeLeg(this.#deps, life, trunk, {
      callId,
      isSecond: false,
      state: { kind: 'awaitingAck' },
    });
    leg.confirm(createAudio(gates, audio), wire);
    leg.call.log.push('200');
    leg.call.isUp = true;
    await gates.pass('200 is sent');
    this.#leg = leg;
    void gates.pass('ACK arrives').then(() => {
      leg.dispatch({ kind: 'acknowledged' });
      const talksMs = (fate.kind === 'answers' ? fate.talksMs : null) ?? MAX_TALK_MS;
      gates.clock.setTimer(() => void gates.pass('caller hangs up').then(() => leg.call.hangUp()), talksMs);
    });
    setImmediate(() => leg.release());
    return leg.leg;
  }
}
