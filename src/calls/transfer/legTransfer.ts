import type { TransferTarget } from '../../agents/transferTarget.ts';
import { createPendingTasks } from '../../base/async/pendingTasks.ts';
import { withTimeout } from '../../base/async/withTimeout.ts';
import type { Timer } from '../../base/values/clock.ts';
import type { CallCommand } from '../../media/agentStream/streamClient.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import { referToReplace } from './referral.ts';
import { TargetLeg, type TargetListener } from './targetLeg.ts';
import type { TransferDeps } from './transferDeps.ts';
import {
  advanceTransfer,
  newTransfer,
  type TransferEffect,
  type TransferEvent,
  type TransferState,
} from './transferMachine.ts';
import type { TransferPlan } from './transferPlan.ts';
import { TRANSFER_REASONS, type TransferReport } from './transferReport.ts';

interface Target extends TransferTarget {
  readonly leg: TargetLeg;
  timer: Timer | undefined;
  isHeld: boolean;
  stopBilling: () => void;
}

/** The interval of the caller's updates until a target has accepted. */
const UPDATE_INTERVAL_MS = 20_000;
/** The longest announcement, for one whose end is not reported. */
const ANNOUNCEMENT_TIMEOUT_MS = 120_000;
/** The longest wait after a target's end for the NOTIFY of the caller's side. */
const REFERRAL_TIMEOUT_MS = 3000;
const AGENT = 'agent';

/**
 * Calls the targets with legs of our own, and joins the one that takes the call with the caller.
 *
 * @see advanceTransfer
 */
export class LegTransfer {
  readonly #deps: TransferDeps;
  readonly #plan: TransferPlan;
  readonly #targets = new Map<number, Target>();
  readonly #pending = createPendingTasks();
  #state: TransferState;
  #updates: Timer | undefined;
  #isCallerHeld = false;
  #joined: Target | undefined;
  #isRinging = false;
  /** Settles once the caller's side has taken both calls over, or not. Never rejects. */
  #referral: Promise<void> | undefined;

  constructor(deps: TransferDeps, plan: TransferPlan) {
    this.#deps = deps;
    this.#plan = plan;
    this.#state = newTransfer(plan, plan.targets.length);
  }

  /** Resolves when no target is left. */
  async run(): Promise<void> {
    if (this.#state.isOver) return;
    const { dispatch, music, media } = this.#deps;
    dispatch({ type: 'transfer_dialing' });
    if (this.#hasMusic) music.play(media);
    if (this.#plan.mode === 'warm') this.#scheduleUpdate();
    this.#advance({ type: 'start' });
    await this.#pending.settled();
  }

  cancel(): void {
    this.#advance({ type: 'caller_left' });
    this.#updates?.cancel();
  }

  setCallerHeld(isHeld: boolean): void {
    this.#isCallerHeld = isHeld;
    this.#playWhileHeld();
  }

  /** True when the caller hears music until a target has joined. */
  get #hasMusic(): boolean {
    const { mode, holdMusic } = this.#plan;
    return mode === 'warm' || holdMusic !== undefined;
  }

  readonly #advance = (event: TransferEvent): void => {
    const { state, effects } = advanceTransfer(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#run(effect);
  };

  #run(effect: TransferEffect): void {
    const { dispatch, media } = this.#deps;
    if (effect.type === 'end_call') {
      void this.#endCall();
      return;
    }
    const { target: index } = effect;
    const target = effect.type === 'dial' ? this.#dial(index) : this.#targets.get(index);
    if (!target) return;
    switch (effect.type) {
      case 'dial':
        break;
      case 'brief':
        void this.#pending.add(this.#brief(index, target));
        break;
      case 'stop_timer':
        target.timer?.cancel();
        break;
      case 'hang_up':
        target.leg.hangUp();
        break;
      case 'join':
        void this.#pending.add(this.#join(index, target));
        break;
      case 'report':
        this.#report(target, { status: effect.status, ...this.#recordedWith(effect, target) });
        break;
      case 'report_accepted':
        this.#report(target, { status: 'accepted', acceptedBy: effect.by });
        break;
      case 'report_end': {
        const { outcome, reason, targetsLeft } = effect;
        const status = outcome === 'refused' ? outcome : 'failed';
        this.#report(target, { status, outcome, reason, targetsLeft });
        break;
      }
      case 'give_back': {
        const { outcome, reason } = effect;
        this.#updates?.cancel();
        this.#deps.music.stop(media);
        this.#quietly(media.unbridge());
        this.#quietly(
          media.tellAgent({ kind: 'transfer', status: 'failed', to: target.to, outcome, reason }),
        );
        dispatch({ type: 'transfer_failed' });
        break;
      }
      default:
        effect satisfies never;
    }
  }

  #dial(index: number): Target {
    const { clock, parties, mayDial, media } = this.#deps;
    const { targets, timeoutMs } = this.#plan;
    const { to, trunkId } = targets[index] ?? { to: '' };
    const leg = new TargetLeg(this.#listener(index), this.#deps.onError);
    const timer = clock.setTimer(() => this.#advance({ type: 'timed_out', target: index }), timeoutMs);
    const target: Target = { to, trunkId, leg, timer, isHeld: false, stopBilling: () => undefined };
    this.#targets.set(index, target);
    this.#report(target, { status: 'started' });
    // The first one was told at the start.
    if (index > 0 && this.#plan.strategy === 'sequential')
      this.#quietly(media.tellAgent({ kind: 'transfer', status: 'begun', to }));
    const options = { ringTimeoutMs: timeoutMs, bridgeWith: media };
    const legs = mayDial ? parties.dial({ to, trunkId }, options) : noLegs();
    void this.#pending.add(leg.dial(legs));
    return target;
  }

  #listener(index: number): TargetListener {
    const target = index;
    return {
      ringing: (earlyMedia) => this.#onRinging(earlyMedia),
      answered: () => {
        const found = this.#targets.get(index);
        if (found) found.stopBilling = this.#deps.startBilling(found.to);
        this.#advance({ type: 'answered', target });
      },
      digit: (digit) => this.#advance({ type: 'digit', target, digit }),
      command: (command) => this.#onCommand(index, command),
      streamClosed: () =>
        this.#advance({ type: 'briefing_failed', target, reason: TRANSFER_REASONS.notBriefed }),
      held: (isHeld) => {
        const found = this.#targets.get(index);
        if (found) found.isHeld = isHeld;
        this.#playWhileHeld();
      },
      mediaTimeout: () => {
        const found = this.#targets.get(index);
        if (found && found === this.#joined)
          this.#deps.dispatch({ type: 'hang_up', intent: 'media_timeout' });
        else found?.leg.hangUp();
      },
      left: (hungUp, outcome, reason) => {
        this.#targets.get(index)?.stopBilling();
        this.#targets.get(index)?.timer?.cancel();
        this.#advance({ type: 'left', target, hungUp, outcome, reason });
      },
    };
  }

  /** @param earlyMedia - Heard instead of our ringback where the target's side plays its own. */
  #onRinging(earlyMedia: MediaSession | undefined): void {
    const { media } = this.#deps;
    if (this.#hasMusic || this.#state.isOver) return;
    if (earlyMedia && this.#plan.targets.length === 1) this.#quietly(media.bridge(earlyMedia));
    else if (!this.#isRinging) this.#quietly(media.startRingback());
    this.#isRinging = true;
  }

  #onCommand(index: number, command: CallCommand): void {
    if (command.kind !== 'briefing') return;
    const { outcome } = command;
    if (outcome === 'told') this.#advance({ type: 'told', target: index });
    else this.#advance({ type: 'replied', target: index, accepts: outcome === 'accepted' });
  }

  /** Has the agent tell the target about the call. */
  async #brief(index: number, target: Target): Promise<void> {
    const { parties: streams, media, clock } = this.#deps;
    const { announce, acceptBy, acceptDigit } = this.#plan;
    const { leg, to } = target;
    this.#quietly(media.tellAgent({ kind: 'transfer', status: 'answered', to }));
    const parties = { left: [this.#deps.caller], right: [AGENT, to] };
    this.#report(target, { status: 'briefing', recording: parties });
    if (acceptBy === 'answer') {
      const told = () => this.#advance({ type: 'told', target: index });
      target.timer = clock.setTimer(told, ANNOUNCEMENT_TIMEOUT_MS);
    }
    try {
      if (leg.media) await media.recordAside(leg.media);
      const party = {
        kind: 'briefing',
        to,
        acceptBy,
        acceptDigit,
        announce,
      } as const;
      await leg.media?.startStream(await streams.stream(party));
    } catch (error) {
      if (this.#state.targets[index] !== 'briefing') return;
      this.#deps.onError(error, 'transfer target not told about the call');
      this.#advance({ type: 'briefing_failed', target: index, reason: TRANSFER_REASONS.notBriefed });
    }
  }

  async #join(index: number, target: Target): Promise<void> {
    const { media, music, dispatch, onError } = this.#deps;
    const other = target.leg.media;
    try {
      if (!other) throw new Error('the transfer target is gone');
      if (this.#plan.mode === 'warm') await other.stopStream();
      await media.bridge(other);
      // It hung up, or the caller did, while they were being bridged.
      if (this.#state.targets[index] !== 'joining') return;
      this.#updates?.cancel();
      this.#joined = target;
      music.stop(media);
      this.#playWhileHeld();
      this.#advance({ type: 'joined', target: index });
      dispatch({ type: 'transfer_bridged' });
      if (this.#plan.afterJoin === 'listen') await this.#listen(media, other, target.to);
      else if (this.#plan.mode === 'warm') this.#referral = this.#referToTarget(target);
    } catch (error) {
      if (this.#joined === target) return onError(error, 'the agent does not listen to a transferred call');
      if (this.#state.targets[index] !== 'joining') return;
      onError(error, 'transfer target not joined');
      this.#advance({ type: 'join_failed', target: index });
    }
  }

  /**
   * Asks the caller's side to connect both calls itself, by REFER with Replaces. The parties talk through us meanwhile, and
   * continue to do so when it refuses.
   */
  async #referToTarget({ to, leg }: Target): Promise<void> {
    const { leg: caller, report, dispatch } = this.#deps;
    const step = { to, mode: this.#plan.mode, by: 'refer' } as const;
    try {
      if (!(await referToReplace(caller, leg.current))) return;
      report({ ...step, status: 'handed_over' });
      dispatch({ type: 'transfer_done' });
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown';
      if (!this.#state.isOver) report({ ...step, status: 'not_handed_over', reason });
    }
  }

  /** A target whose call was replaced leaves before the caller's side says so. */
  async #endCall(): Promise<void> {
    const { clock, dispatch } = this.#deps;
    if (this.#referral) await withTimeout(clock, this.#referral, REFERRAL_TIMEOUT_MS);
    dispatch({ type: 'transfer_done' });
  }

  /** Has what both say written into the history. */
  async #listen(caller: MediaSession, other: MediaSession, to: string): Promise<void> {
    const { parties } = this.#deps;
    await caller.startStream(await parties.stream({ kind: 'listener', speaker: 'caller', to }));
    await other.startStream(await parties.stream({ kind: 'listener', speaker: 'target', to }));
  }

  /** Plays music to one of the joined parties while the other one holds. */
  #playWhileHeld(): void {
    const target = this.#joined;
    const other = target?.leg.media;
    if (!target || !other) return;
    const { media, music } = this.#deps;
    if (target.isHeld) music.play(media);
    else music.stop(media);
    if (this.#isCallerHeld) music.play(other);
    else music.stop(other);
  }

  #scheduleUpdate(): void {
    const { clock, media } = this.#deps;
    this.#updates = clock.setTimer(() => {
      if (this.#state.isOver) return;
      const isBriefing = this.#state.targets.includes('briefing');
      const to = [...this.#targets.values()].at(-1)?.to ?? '';
      if (!isBriefing) this.#quietly(media.tellAgent({ kind: 'transfer', status: 'waiting', to }));
      this.#scheduleUpdate();
    }, UPDATE_INTERVAL_MS);
  }

  #recordedWith(
    { status }: Extract<TransferEffect, { type: 'report' }>,
    { to }: Target,
  ): Pick<TransferReport, 'recording'> {
    return status === 'joined' ? { recording: { left: [this.#deps.caller], right: [to] } } : {};
  }

  #report({ to, trunkId }: Target, what: Omit<TransferReport, 'to' | 'trunkId' | 'mode' | 'by'>): void {
    this.#deps.report({ ...what, to, trunkId, mode: this.#plan.mode, by: 'second_leg' });
  }

  /** A call that ends meanwhile has no media session any more. */
  #quietly(done: Promise<void>): void {
    done.catch((error: unknown) => {
      if (!this.#state.isOver) this.#deps.onError(error, 'transfer: media session not updated');
    });
  }
}

async function* noLegs(): AsyncGenerator<never> {}
