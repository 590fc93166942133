import { createEmitter } from '../../../../src/base/emitter.ts';
import { CallwayError } from '../../../../src/base/errors.ts';
import type { CallLeg, DialRequest, InboundCall, LegEvents } from '../../../../src/calls/telephony.ts';
import type { Trunk } from '../../../../src/calls/trunks/trunk.ts';
import { type LegEvent, type LegState, legTransition } from '../../../../src/telephony/leg/legTransition.ts';
import { type AudioFate, createAudio, type FakeAudio } from './audio.ts';
import type { Gates, NodeProcess } from './gates.ts';

const CANCEL_WAIT_MS = 5000;
const BYE_WAIT_MS = 4000;
const RESPONSE_MS = 5000;
const RINGING_MS = 1500;
const TRANSFERRED_MS = 3000;

export interface InboundCaller {
  cancel(): void;
}

export interface PhonesDeps {
  readonly gates: Gates;
  /** For an INVITE over this trunk, or to a transfer target. */
  readonly fateOf: (request: DialRequest) => PhoneFate;
  readonly takesRefer: boolean;
  readonly audio: AudioFate;
  readonly numberOf: (trunk: Trunk) => InboundCall['number'];
  readonly onError: (error: unknown, what: string) => void;
}

/** The outcome of an INVITE. */
export type PhoneFate =
  /** Rings, answers, and hangs up after this time; never for null. */
  | { readonly kind: 'answers'; readonly talksMs: number | null }
  | { readonly kind: 'refuses'; readonly status: number; readonly rings: boolean }
  | { readonly kind: 'rings' }
  | { readonly kind: 'silent' };

/** One INVITE as seen on the wire. */
export interface WireCall {
  readonly callId: string;
  readonly isSecond: boolean;
  readonly trunkId: string;
  /** Methods and responses, in order. */
  readonly log: string[];
  /** The peer is ringing or in the call. */
  isUp: boolean;
  /** Both sides knew of the answer. */
  wasAnswered: boolean;
  readonly owner: NodeProcess;
  hasLegEnded: boolean;
  hangUp(): void;
  /** The leg has ended. */
  lose(): void;
  readonly audio: () => FakeAudio | undefined;
}

interface LegFacts {
  readonly callId: string;
  readonly isSecond: boolean;
  readonly state: LegState;
}

/** A leg with telephony's state machine, and the phone at its other end. */
export class FakeLeg {
  readonly #deps: PhonesDeps;
  readonly #life: NodeProcess;
  readonly #events;
  readonly #done: Promise<void>;
  readonly call: WireCall;
  readonly leg: CallLeg;
  #settle: () => void = () => undefined;
  /** Held back until the leg has its listeners. */
  #heldBack: LegEvent[] | undefined;
  #state: LegState;
  #audio: FakeAudio | undefined;
  #isCanceled = false;
  #isLost = false;
  #fate: PhoneFate = { kind: 'silent' };
  #ringTimeoutMs = 0;
  #wire: WireCall[] = [];

  constructor(deps: PhonesDeps, life: NodeProcess, trunk: Trunk, facts: LegFacts) {
    [this.#deps, this.#life, this.#state] = [deps, life, facts.state];
    this.#events = createEmitter<LegEvents>((error) => deps.onError(error, 'a listener threw'));
    this.#done = new Promise((resolve) => {
      this.#settle = resolve;
    });
    const audio = () => this.#audio;
    this.call = {
      callId: facts.callId,
      isSecond: facts.isSecond,
      trunkId: trunk.id,
      log: [],
      isUp: false,
      wasAnswered: false,
      owner: life,
      hasLegEnded: false,
      hangUp: () => this.#peerLeaves(),
      lose: () => {
        this.call.isUp = false;
        this.#isLost = true;
        this.dispatch({ kind: 'dialogLost' });
      },
      audio,
    };
    const sipCallId = `sip-${facts.callId}`;
    this.leg = {
      sipCallId,
      trunkId: trunk.id,
      transferMethod: trunk.transfer,
      replacingUri: undefined,
      get media() {
        return audio();
      },
      events: this.#events,
      hangup: () => {
        this.dispatch({ kind: 'hangup', reason: { q850Cause: 16, text: 'test' } });
        return this.#done;
      },
      sendDtmf: async () => undefined,
      refer: () => this.#transfer(),
    };
  }

  place(fate: PhoneFate, ringTimeoutMs: number, wire: WireCall[]): void {
    [this.#fate, this.#ringTimeoutMs, this.#wire] = [fate, ringTimeoutMs, wire];
    void this.#open().then((isOpen) => this.dispatch({ kind: isOpen ? 'prepared' : 'failed' }));
  }

  /** Its media session is open and its 200 is being sent. */
  confirm(audio: FakeAudio, wire: WireCall[]): void {
    this.#audio = audio;
    this.#heldBack = [];
    wire.push(this.call);
  }

  release(): void {
    const due = this.#heldBack ?? [];
    this.#heldBack = undefined;
    for (const event of due) this.dispatch(event);
  }

  dispatch(event: LegEvent): void {
    if (!this.#life.isAlive) return;
    if (this.#heldBack) return void this.#heldBack.push(event);
    const { state, effects } = legTransition(this.#state, event);
    this.#state = state;
    for (const effect of effects) {
      if (effect.kind === 'sendInvite') this.#invite();
      else if (effect.kind === 'sendCancel') this.#cancel();
      else if (effect.kind === 'connectAudio') void this.#connect();
      else if (effect.kind === 'sendBye') void this.#bye();
      else if (effect.kind === 'emitRinging') this.#events.emit('ringing', { hasEarlyMedia: false });
      else if (effect.kind === 'emitAnswered') this.#announce();
      else this.#end(effect.end);
    }
  }

  async #open(): Promise<boolean> {
    const { gates, audio } = this.#deps;
    if (audio.refuses) {
      // As early as the port allows.
      await new Promise((resolve) => setImmediate(resolve));
      return false;
    }
    await gates.pass('media session opens');
    this.#audio = createAudio(gates, audio);
    return true;
  }

  #invite(): void {
    const { clock } = this.#deps.gates;
    this.#wire.push(this.call);
    this.#log('INVITE');
    clock.setTimer(() => {
      if (this.#fate.kind === 'silent') this.dispatch({ kind: 'responseTimeout' });
    }, RESPONSE_MS);
    clock.setTimer(() => this.dispatch({ kind: 'ringTimeout' }), this.#ringTimeoutMs);
    void this.#play(this.#fate);
  }

  async #play(fate: PhoneFate): Promise<void> {
    const { gates } = this.#deps;
    const step = (what: string) => gates.pass(`peer ${what}`);
    if (fate.kind === 'silent') return;
    await step('gets INVITE');
    if (this.#isOver() || this.#isLost) return;
    if (fate.kind !== 'refuses' || fate.rings) {
      this.call.isUp = true;
      this.dispatch({ kind: 'ringing', hasEarlyMedia: false });
      await this.#wait(RINGING_MS);
    }
    if (fate.kind === 'rings') return;
    await step('decides');
    if (this.#isOver() || this.#isLost) return;
    if (fate.kind === 'refuses') {
      this.call.isUp = false;
      this.#log(String(fate.status));
      return this.#refuse(fate.status);
    }
    this.#log('200');
    this.call.isUp = true;
    await step('hears its 200 arrive');
    if (this.#isLost) return;
    if (this.#isCanceled) {
      // The 200 crossed the CANCEL: this side hangs up.
      this.#log('BYE');
      this.call.isUp = false;
      return this.#refuse(200);
    }
    this.dispatch({ kind: 'accepted' });
    if (fate.talksMs === null) return;
    await this.#wait(fate.talksMs);
    await step('hangs up');
    this.#peerLeaves();
  }

  /** The peer sent its final response. */
  #isOver(): boolean {
    return this.call.log.some((what) => /^[2-6]\d\d/.test(what));
  }

  #refuse(status: number): void {
    this.dispatch({
      kind: 'rejected',
      response: { status, reason: 'test', q850Cause: undefined, isFromPeer: true },
    });
  }

  #cancel(): void {
    const { gates } = this.#deps;
    this.#log('CANCEL');
    this.#isCanceled = true;
    gates.clock.setTimer(() => this.dispatch({ kind: 'completed' }), CANCEL_WAIT_MS);
    void gates.pass('peer receives CANCEL').then(() => {
      if (this.#isOver() || this.#fate.kind === 'silent') return;
      this.#log('487');
      this.call.isUp = false;
      this.#refuse(487);
    });
  }

  async #connect(): Promise<void> {
    await this.#deps.gates.pass('media session connects');
    this.dispatch({ kind: 'connected' });
  }

  async #bye(): Promise<void> {
    const { gates } = this.#deps;
    this.#log('BYE');
    gates.clock.setTimer(() => this.dispatch({ kind: 'completed' }), BYE_WAIT_MS);
    await gates.pass('peer receives BYE');
    this.call.isUp = false;
    await gates.pass('BYE is answered');
    this.dispatch({ kind: 'completed' });
  }

  #peerLeaves(): void {
    if (!this.call.isUp || !this.call.log.includes('200')) return;
    this.call.isUp = false;
    this.#log('BYE of the peer');
    this.dispatch({ kind: 'byeReceived', q850Cause: 16 });
  }

  #announce(): void {
    this.call.wasAnswered = true;
    this.#events.emit('answered', { atMs: this.#deps.gates.clock.now() });
  }

  #end(end: LegEvents['ended']): void {
    this.call.hasLegEnded = true;
    this.#settle();
    this.#events.emit('ended', end);
    void this.#audio?.close();
  }

  async #transfer(): Promise<void> {
    const { gates, takesRefer } = this.#deps;
    if (this.#state.kind !== 'established')
      throw new CallwayError('conflict', 'call_not_in_progress', 'not talking');
    this.#log('REFER');
    await gates.pass('peer receives REFER');
    if (!takesRefer) throw new CallwayError('unavailable', 'transfer_unsupported', '405');
    if (!this.call.isUp) throw new CallwayError('unavailable', 'transfer_failed', 'gone');
    this.#deps.gates.clock.setTimer(() => void this.leg.hangup(), TRANSFERRED_MS);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#deps.gates.clock.setTimer(resolve, ms));
  }

  #log(what: string): void {
    this.call.log.push(what);
  }
}
