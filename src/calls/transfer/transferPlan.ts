import {
  DEFAULT_ACCEPT_DIGIT,
  DEFAULT_TRANSFER_TIMEOUT_SECONDS,
  type HoldMusicChoice,
  type TransferMode,
  type TransferOptions,
  type TransferRequest,
  targetsOf,
  transferObjections,
  transferRequest,
} from '../../agents/transferOptions.ts';
import { readTransferTarget, type TransferTarget } from '../../agents/transferTarget.ts';
import { CallwayError, invalid } from '../../base/errors.ts';
import type { Trunk } from '../trunks/trunk.ts';

/** A transfer with all its defaults. */
export interface TransferPlan {
  /** The targets in the order of trial; at least one. Numbers are as given, `sip:` URIs without headers. */
  readonly targets: readonly TransferTarget[];
  readonly mode: TransferMode;
  /** A template; undefined for the agent's own words. */
  readonly announce: string | undefined;
  readonly acceptBy: NonNullable<TransferOptions['acceptBy']>;
  readonly acceptDigit: string;
  /** The time for each target from its first INVITE to its acceptance; undefined for a REFER without a time limit. */
  readonly timeoutMs: number;
  readonly isTimeoutGiven: boolean;
  readonly strategy: NonNullable<TransferOptions['strategy']>;
  /** The chosen hold music; undefined when none was chosen. */
  readonly holdMusic: HoldMusicChoice | undefined;
  readonly afterJoin: NonNullable<TransferOptions['afterJoin']>;
}

/**
 * Completes a request of the API, the agent or a bot.
 *
 * @param method - The transfer method of the caller's trunk.
 * @throws {CallwayError} 400 `invalid_transfer` when the options do not fit.
 */
export function planTransfer(to: string, options: unknown, method: Trunk['transfer']): TransferPlan {
  const parsed = transferRequest.safeParse(options ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(
      'invalid_transfer',
      `${issue?.path.join('.') ?? 'transfer'}: ${issue?.message ?? 'invalid'}`,
    );
  }
  const { targets, ...given } = parsed.data;
  requireSensible(given);
  const all = targetsOf({ targets: targets ?? [to], trunkId: given.trunkId }) ?? [];
  // A peer that is asked to call the target itself knows no trunk of ours.
  const isReferred = method === 'refer' && all.every(({ trunkId }) => trunkId === undefined);
  return {
    targets: all.map((target) => ({ ...target, to: asDialed(target.to) })),
    mode: given.mode ?? (isReferred ? 'refer' : 'blind'),
    announce: given.announce,
    acceptBy: given.acceptBy ?? 'answer',
    acceptDigit: given.acceptDigit ?? DEFAULT_ACCEPT_DIGIT,
    timeoutMs: (given.timeoutSeconds ?? DEFAULT_TRANSFER_TIMEOUT_SECONDS) * 1000,
    isTimeoutGiven: given.timeoutSeconds !== undefined,
    strategy: given.strategy ?? 'sequential',
    holdMusic: given.holdMusic,
    afterJoin: given.afterJoin ?? 'leave',
  };
}

/** @throws {CallwayError} 400 `invalid_transfer` for options without effect, or a template that cannot be read. */
export function requireSensible(options: Omit<TransferRequest, 'targets'>): void {
  const objections = transferObjections(options);
  const [first] = objections;
  if (first) throw invalid('invalid_transfer', first.message, objections);
}

export function transferInProgress(): CallwayError {
  const message = 'The call is being transferred, or is transferred';
  return new CallwayError('conflict', 'transfer_in_progress', message);
}

/** The agent's `transferTargets` narrow what the project may call. */
export function notListed(to: string): CallwayError {
  const message = `${to} is none of the agent's transferTargets`;
  return new CallwayError('unprocessable', 'destination_not_allowed', message);
}

/** A model, a bot or the peer may have chosen it. A number stays as it was given, for trunks that want that. */
function asDialed(to: string): string {
  return /^sips?:/i.test(to) ? (readTransferTarget(to) ?? to.replace(/\?.*$/s, '')) : to;
}
