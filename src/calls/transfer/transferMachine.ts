import type { TransferOutcome } from '../../agents/transferOptions.ts';
import type { TransferPlan } from './transferPlan.ts';
import { type AcceptedBy, TRANSFER_REASONS } from './transferReport.ts';

/**
 * The phase of a target of a transfer by legs of ours:
 *
 * ```
 *          its turn              answers                    accepts              bridged
 *  waiting ────────▶ dialing ─────────────────▶ briefing ──────────▶ joining ──────────▶ joined
 *     │                 │  └── not briefed ────────┼──────────────────▲ │                    │ hangs up
 *     │                 │ busy, timeout, …         │ refuses, timeout,  │ fails              ▼
 *     │                 ▼                          ▼ hangs up           ▼            the call ends
 *     └──────────▶    ended ◀──────────────────────┴────────────────────┘
 *  another accepts, or the caller leaves: any ──▶ ended
 * ```
 *
 * The phase of a target. When it ends without acceptance, the next target is dialed. When none is left, the caller is
 * back with the agent.
 */
type TargetPhase = 'waiting' | 'dialing' | 'briefing' | 'joining' | 'joined' | 'ended';

export interface TransferState {
  readonly plan: Pick<TransferPlan, 'mode' | 'acceptBy' | 'acceptDigit' | 'strategy'>;
  /** The targets in the order of the plan. */
  readonly targets: readonly TargetPhase[];
  /** True when the transfer is over: it has failed, or the caller or the joined target has left. */
  readonly isOver: boolean;
}

/** @property target - The target's index. */
export type TransferEvent =
  | { readonly type: 'start' }
  | { readonly type: 'answered'; readonly target: number }
  | { readonly type: 'digit'; readonly target: number; readonly digit: string }
  /** The target has heard the whole announcement. */
  | { readonly type: 'told'; readonly target: number }
  /** The target answered the briefing in words. */
  | { readonly type: 'replied'; readonly target: number; readonly accepts: boolean }
  /** The agent cannot speak to the target. */
  | { readonly type: 'briefing_failed'; readonly target: number; readonly reason: string }
  | { readonly type: 'timed_out'; readonly target: number }
  /** The target was not reached, or has left. @property hungUp - True when it hung up by itself after the answer. */
  | {
      readonly type: 'left';
      readonly target: number;
      readonly hungUp: boolean;
      readonly outcome: TransferOutcome;
      readonly reason: string;
    }
  | { readonly type: 'joined'; readonly target: number }
  | { readonly type: 'join_failed'; readonly target: number }
  | { readonly type: 'caller_left' };

export type TransferEffect =
  | { readonly type: 'dial'; readonly target: number }
  /** Tell the target about the call. */
  | { readonly type: 'brief'; readonly target: number }
  /** The target need not accept within a time any more. */
  | { readonly type: 'stop_timer'; readonly target: number }
  | { readonly type: 'hang_up'; readonly target: number }
  | { readonly type: 'join'; readonly target: number }
  /** Reports to the history. `canceled` means that another target was first. */
  | { readonly type: 'report'; readonly target: number; readonly status: 'joined' | 'canceled' }
  | { readonly type: 'report_accepted'; readonly target: number; readonly by: AcceptedBy }
  /** @property targetsLeft - The number of targets that are still tried. */
  | {
      readonly type: 'report_end';
      readonly target: number;
      readonly outcome: TransferOutcome;
      readonly reason: string;
      readonly targetsLeft: number;
    }
  /** The caller is back. Outcome and reason are those of the target that ended last. */
  | {
      readonly type: 'give_back';
      readonly target: number;
      readonly outcome: TransferOutcome;
      readonly reason: string;
    }
  /** The joined target has hung up. */
  | { readonly type: 'end_call' };

export interface TransferStep {
  readonly state: TransferState;
  readonly effects: readonly TransferEffect[];
}

export const newTransfer = (
  { mode, acceptBy, acceptDigit, strategy }: TransferState['plan'],
  targets: number,
): TransferState => ({
  plan: { mode, acceptBy, acceptDigit, strategy },
  targets: Array.from({ length: targets }, () => 'waiting'),
  isOver: false,
});

/** Decides the next step of a transfer. Pure; {@link startTransfer} carries the effects out in their order. */
export function advanceTransfer(state: TransferState, event: TransferEvent): TransferStep {
  if (state.isOver) return unchanged(state);
  if (event.type === 'start') return dial(state, state.plan.strategy === 'sequential' ? 1 : Infinity);
  if (event.type === 'caller_left') return callerLeft(state);
  const { target } = event;
  const phase = state.targets[target] ?? 'ended';
  if (event.type === 'left') return left(state, target, event);
  if (phase === 'briefing') return whileBriefing(state, target, event);
  if (phase === 'joining') return whileJoining(state, target, event);
  if (phase !== 'dialing') return unchanged(state);
  if (event.type === 'answered') return answered(state, target);
  return event.type === 'timed_out'
    ? end(state, target, 'no_answer', 'not answered in time')
    : unchanged(state);
}

type TargetEvent = Extract<TransferEvent, { target: number }>;

function whileBriefing(state: TransferState, target: number, event: TargetEvent): TransferStep {
  const { acceptBy, acceptDigit } = state.plan;
  // Who has accepted by answering need not hear why, and is in no hurry.
  if (acceptBy === 'answer') {
    const isOver = event.type === 'told' || event.type === 'briefing_failed';
    return isOver ? accept(state, target, 'answer') : unchanged(state);
  }
  switch (event.type) {
    case 'digit':
      return event.digit === acceptDigit
        ? accept(state, target, 'digit')
        : end(state, target, 'refused', `pressed ${event.digit}`);
    case 'replied':
      if (acceptBy !== 'speech') return unchanged(state);
      return event.accepts ? accept(state, target, 'speech') : end(state, target, 'refused', 'said no');
    case 'briefing_failed':
      return end(state, target, 'failed', event.reason);
    case 'timed_out':
      return end(state, target, 'no_answer', 'not accepted in time');
    default:
      return unchanged(state);
  }
}

function whileJoining(state: TransferState, target: number, { type }: TargetEvent): TransferStep {
  if (type === 'join_failed') return end(state, target, 'failed', 'it could not be joined');
  if (type !== 'joined') return unchanged(state);
  const joined = withPhase(state, target, 'joined');
  return { state: joined, effects: [{ type: 'report', target, status: 'joined' }] };
}

const unchanged = (state: TransferState): TransferStep => ({ state, effects: [] });

function withPhase(state: TransferState, target: number, phase: TargetPhase): TransferState {
  return { ...state, targets: state.targets.with(target, phase) };
}

/** Dials up to `count` of the targets that wait. */
function dial(state: TransferState, count: number): TransferStep {
  const next = state.targets
    .flatMap((phase, target) => (phase === 'waiting' ? [target] : []))
    .slice(0, count);
  return {
    state: next.reduce((changed, target) => withPhase(changed, target, 'dialing'), state),
    effects: next.map((target) => ({ type: 'dial', target })),
  };
}

function answered(state: TransferState, target: number): TransferStep {
  const { mode, acceptBy } = state.plan;
  if (mode !== 'warm') return accept(state, target, 'answer');
  return {
    state: withPhase(state, target, 'briefing'),
    effects: [
      ...(acceptBy === 'answer' ? [{ type: 'stop_timer', target } as const] : []),
      { type: 'brief', target },
    ],
  };
}

/** The first to accept gets the call. */
function accept(state: TransferState, target: number, by: AcceptedBy): TransferStep {
  const others = active(state).filter((other) => other !== target);
  const canceled = others.reduce((changed, other) => withPhase(changed, other, 'ended'), state);
  return {
    state: withPhase(canceled, target, 'joining'),
    effects: [
      { type: 'stop_timer', target },
      { type: 'report_accepted', target, by },
      ...others.flatMap((other): TransferEffect[] => [
        { type: 'stop_timer', target: other },
        { type: 'hang_up', target: other },
        { type: 'report', target: other, status: 'canceled' },
      ]),
      { type: 'join', target },
    ],
  };
}

function left(
  state: TransferState,
  target: number,
  { hungUp, outcome, reason }: Extract<TransferEvent, { type: 'left' }>,
): TransferStep {
  switch (state.targets[target]) {
    case 'dialing':
    case 'joining':
      return end(state, target, outcome, reason);
    case 'briefing':
      return end(state, target, hungUp ? 'refused' : outcome, reason);
    case 'joined':
      return {
        state: { ...withPhase(state, target, 'ended'), isOver: true },
        effects: [{ type: 'end_call' }],
      };
    default:
      return unchanged(state);
  }
}

/** A target ends without the call; the next one is dialed, or the caller is back. */
function end(state: TransferState, target: number, outcome: TransferOutcome, reason: string): TransferStep {
  const ended = withPhase(state, target, 'ended');
  const next = active(ended).length > 0 ? unchanged(ended) : dial(ended, 1);
  const targetsLeft = next.state.targets.filter((phase) => phase !== 'ended').length;
  const closing: TransferEffect[] = [
    { type: 'stop_timer', target },
    { type: 'hang_up', target },
    { type: 'report_end', target, outcome, reason, targetsLeft },
  ];
  if (targetsLeft > 0) return { state: next.state, effects: [...closing, ...next.effects] };
  return {
    state: { ...next.state, isOver: true },
    effects: [...closing, { type: 'give_back', target, outcome, reason }],
  };
}

function callerLeft(state: TransferState): TransferStep {
  const reason = TRANSFER_REASONS.callerHungUp;
  const effects = active(state).flatMap((target): TransferEffect[] => [
    { type: 'stop_timer', target },
    { type: 'hang_up', target },
    // A joined target was transferred to.
    ...(state.targets[target] === 'joined'
      ? []
      : [{ type: 'report_end', target, outcome: 'failed', reason, targetsLeft: 0 } as const]),
  ]);
  return { state: { ...state, targets: state.targets.map(() => 'ended'), isOver: true }, effects };
}

/** Returns the targets that have a leg. */
function active({ targets }: TransferState): number[] {
  return targets.flatMap((phase, target) => (phase === 'waiting' || phase === 'ended' ? [] : [target]));
}
