import { z } from 'zod';

import {
  TRANSFER_MODES,
  TRANSFER_OUTCOMES,
  type TransferMode,
  type TransferOutcome,
} from '../../agents/transferOptions.ts';
import { omitUndefined } from '../../base/values/omitUndefined.ts';

/** The method: by REFER the peer calls the target itself; with a second leg we call it and bridge both. */
type TransferMethod = 'refer' | 'second_leg';

export type AcceptedBy = 'answer' | 'digit' | 'speech';

export const TRANSFER_STATUSES = ['started', 'accepted', 'refused', 'joined', 'failed'] as const;

/** The steps that only the history shows. */
export const HISTORY_STATUSES = ['briefing', 'canceled', 'handed_over', 'not_handed_over'] as const;

/** Our own reasons. Others are outcomes of the target's call and responses of the peer. */
export const TRANSFER_REASONS = {
  targetHungUp: 'hung up',
  callerHungUp: 'the caller hung up',
  notBriefed: 'the agent could not speak to it',
  noChannel: 'no trunk of the number has room for another call',
  unreadable: 'the transfer cannot be read',
} as const;

type HistoryStatus = (typeof HISTORY_STATUSES)[number];

/** A step of a transfer for one target, as the history shows it. */
export interface TransferReport {
  /**
   * `briefing`: it has answered, and is told about the call. `canceled`: another target was first. `handed_over`: the
   * caller's side has joined both itself; `not_handed_over`: it has not, and both go on talking through us.
   */
  readonly status: (typeof TRANSFER_STATUSES)[number] | HistoryStatus;
  readonly to: string;
  /** The trunk that the target names; undefined when it names none. */
  readonly trunkId?: string | undefined;
  readonly mode: TransferMode;
  readonly by: TransferMethod;
  /** The way in which the target accepted the call. */
  readonly acceptedBy?: AcceptedBy;
  /** The outcome of a target that has not joined. */
  readonly outcome?: TransferOutcome;
  readonly reason?: string;
  /** Targets that are still tried after this one. */
  readonly targetsLeft?: number;
  /** The parties on each channel of the call's recording from now on. */
  readonly recording?: { readonly left: readonly string[]; readonly right: readonly string[] };
}

/** The latest transfer of a call, in the API. */
export const callTransfer = z.object({
  mode: z.enum(TRANSFER_MODES),
  to: z.string().describe('The latest target.'),
  status: z.enum(TRANSFER_STATUSES),
  outcome: z
    .enum(['joined', ...TRANSFER_OUTCOMES])
    .nullable()
    .describe('How it ended; null while it runs. After any but `joined` the caller is back with the agent.'),
  reason: z.string().nullable(),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
});

export type CallTransfer = z.infer<typeof callTransfer>;

/** The call's field after a report. @param before - Null for a transfer that starts. */
export function transferAfter(
  before: CallTransfer | null,
  { status, to, mode, outcome, reason, targetsLeft = 0 }: TransferReport,
  at: string,
): CallTransfer | undefined {
  if (isForHistory(status)) return undefined;
  const isOver = status === 'joined' || (outcome !== undefined && targetsLeft === 0);
  return {
    mode,
    to,
    status,
    outcome: isOver ? (outcome ?? 'joined') : null,
    reason: isOver ? (reason ?? null) : null,
    startedAt: before && before.endedAt === null ? before.startedAt : at,
    endedAt: isOver ? at : null,
  };
}

/** The data of the history's event. */
export function transferEvent(report: TransferReport, recordingMs: number | undefined) {
  const { recording } = report;
  return omitUndefined({
    ...report,
    recording: recording && omitUndefined({ ...recording, atMs: recordingMs }),
  });
}

/** Returns the live event; undefined for steps that only the history shows. */
export function transferLiveEvent({
  status,
  to,
  mode,
  acceptedBy = 'answer',
  outcome,
  reason,
}: TransferReport) {
  switch (status) {
    case 'started':
    case 'joined':
      return { type: `transfer.${status}`, data: { to, mode } } as const;
    case 'accepted':
      return { type: 'transfer.accepted', data: { to, by: acceptedBy } } as const;
    case 'refused':
      return { type: 'transfer.refused', data: { to, reason: reason ?? 'unknown' } } as const;
    case 'failed':
      return { type: 'transfer.failed', data: { to, mode, outcome, reason: reason ?? 'unknown' } } as const;
    case 'briefing':
    case 'canceled':
    case 'handed_over':
    case 'not_handed_over':
      return undefined;
  }
}

function isForHistory(status: TransferReport['status']): status is HistoryStatus {
  return (HISTORY_STATUSES as readonly string[]).includes(status);
}
