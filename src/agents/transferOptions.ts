import { z } from 'zod';

import type { ErrorDetail } from '../base/errors.ts';
import { omitUndefined } from '../base/values/omitUndefined.ts';
import { checkTemplate } from './pathway/templates.ts';
import {
  type TransferTarget,
  type TransferTargetInput,
  targetWithTrunk,
  toTransferTarget,
  transferTrunkId,
} from './transferTarget.ts';

export const TRANSFER_MODES = ['blind', 'refer', 'warm'] as const;
/** The outcomes of a transfer that does not join its parties. */
export const TRANSFER_OUTCOMES = ['refused', 'busy', 'no_answer', 'failed'] as const;
export const MAX_TRANSFER_TARGETS = 10;
export const DEFAULT_TRANSFER_TIMEOUT_SECONDS = 30;
export const DEFAULT_ACCEPT_DIGIT = '1';
/** The variables of an announcement besides the session's. */
export const ANNOUNCE_VARIABLES = ['summary', 'callerNumber', 'agentName'] as const;

const MAX_ANNOUNCE_CHARACTERS = 2000;
const MAX_TIMEOUT_SECONDS = 600;
/** Options that have no effect in a mode. By REFER the peer calls the target itself. */
const WARM_ONLY = ['announce', 'acceptBy', 'acceptDigit'] as const;
const BRIDGED_ONLY = ['strategy', 'holdMusic', 'afterJoin'] as const;

export type TransferMode = (typeof TRANSFER_MODES)[number];
export type TransferOutcome = (typeof TRANSFER_OUTCOMES)[number];

/** The options of a transfer beside its targets, as the API, transfer nodes and the tool take them. */
export const transferFields = {
  mode: z
    .enum(TRANSFER_MODES)
    .describe(
      '`blind` calls the target and joins it with the caller when it answers. `warm` tells the target first who is calling and why, while the caller hears music, and joins them when the target accepts. `refer` asks the caller’s side to call the target itself (REFER), and calls it as `blind` does where that side takes no REFER. Default: `blind`; `refer` on a trunk whose `transfer` is `refer`.',
    ),
  announce: z
    .string()
    .min(1)
    .max(MAX_ANNOUNCE_CHARACTERS)
    .describe(
      'For `warm`: what the target is told. A Liquid template with the variables of the session, and `summary`, `callerNumber` and `agentName`. Default: who is calling, and a summary of the conversation.',
    ),
  acceptBy: z
    .enum(['answer', 'digit', 'speech'])
    .describe(
      'For `warm`: how the target takes the call. `answer`: by staying until the announcement has ended. `digit`: by pressing `acceptDigit`. `speech`: by a yes, or by the digit. Another digit, a no, or hanging up refuses. Default: `answer`.',
    ),
  acceptDigit: z
    .string()
    .regex(/^[0-9*#]$/, 'must be one digit of 0-9, * and #')
    .describe(`Default: \`${DEFAULT_ACCEPT_DIGIT}\`.`),
  timeoutSeconds: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_SECONDS)
    .describe(
      `For each target, ringing and acceptance together. Default: ${DEFAULT_TRANSFER_TIMEOUT_SECONDS}.`,
    ),
  strategy: z
    .enum(['sequential', 'simultaneous'])
    .describe(
      'With several targets: one after the other, or all at once, where the first to accept gets the call and the others are canceled. Default: `sequential`.',
    ),
  holdMusic: z
    .union([z.enum(['default', 'none']), z.strictObject({ mediaId: z.string().max(64) })])
    .describe(
      'What a party hears while it waits: the built-in music, nothing, or a WAV file of the project. While a blind transfer rings, the caller hears ringing unless this is set. Default: `default`.',
    ),
  afterJoin: z
    .enum(['leave', 'listen'])
    .describe(
      'Whether the agent leaves when both are joined, or stays silently and writes what both say into the history. Default: `leave`.',
    ),
  trunkId: transferTrunkId.describe(
    'The trunk for targets that name none. Default: those of the call’s number.',
  ),
} as const;

export const transferOptionFields = Object.fromEntries(
  Object.entries(transferFields).map(([name, field]) => [name, field.optional()]),
) as { [Name in keyof typeof transferFields]: z.ZodOptional<(typeof transferFields)[Name]> };

/** The options of a transfer, which do not include its targets. */
export const transferOptions = z.strictObject(transferOptionFields);

/** A transfer as a channel passes it on; `to` is the first target. */
export const transferRequest = transferOptions.extend({
  targets: z
    .array(targetWithTrunk(z.string().min(1).max(255)))
    .min(1)
    .max(MAX_TRANSFER_TARGETS)
    .optional(),
});

export type TransferOptions = z.output<typeof transferOptions>;
export type TransferRequest = z.output<typeof transferRequest>;
export type HoldMusicChoice = NonNullable<TransferOptions['holdMusic']>;

/** Targets as users write them: exactly one of `to` and `targets`. */
export interface GivenTargets {
  readonly to?: TransferTargetInput | undefined;
  readonly targets?: readonly TransferTargetInput[] | undefined;
  /** The trunk of the targets that name none. */
  readonly trunkId?: string | undefined;
}

/** @returns The targets; undefined when none, an empty list, or both forms were given. */
export function targetsOf({ to, targets, trunkId }: GivenTargets): readonly TransferTarget[] | undefined {
  if (to !== undefined && targets !== undefined) return undefined;
  const given = to === undefined ? (targets ?? []) : [to];
  if (given.length === 0) return undefined;
  return given.map(toTransferTarget).map((target) => ({ to: target.to, trunkId: target.trunkId ?? trunkId }));
}

/**
 * A transfer as channels are told of it: `to` is the first target; without options where all are the default.
 *
 * @param targets - The targets, at least one, each with its trunk.
 */
export function transferOrder(
  targets: readonly TransferTarget[],
  { trunkId: _ofTargets, ...given }: TransferOptions,
): { readonly to: string; readonly options?: TransferRequest } {
  const [first = { to: '' }] = targets;
  const several = targets.map(({ to, trunkId }) => (trunkId === undefined ? to : { to, trunkId }));
  const options = omitUndefined({
    ...given,
    trunkId: targets.length > 1 ? undefined : first.trunkId,
    targets: targets.length > 1 ? several : undefined,
  });
  return Object.keys(options).length === 0 ? { to: first.to } : { to: first.to, options };
}

/** The options of an object that has other fields too. */
export function pickTransferOptions(data: Partial<TransferOptions>): TransferOptions {
  const { mode, announce, acceptBy, acceptDigit, timeoutSeconds, strategy, holdMusic, afterJoin, trunkId } =
    data;
  return omitUndefined({
    mode,
    announce,
    acceptBy,
    acceptDigit,
    timeoutSeconds,
    strategy,
    holdMusic,
    afterJoin,
    trunkId,
  });
}

/** Options that have no effect in their mode. */
export function unusedOptions(options: Partial<TransferOptions>): ErrorDetail[] {
  const { mode = 'blind' } = options;
  const objection = (name: string, modes: string) => ({
    path: `/${name}`,
    message: `${name} has no effect in the mode ${mode}; remove it, or set mode to ${modes}`,
  });
  const isGiven = (name: keyof TransferOptions) => options[name] !== undefined;
  return [
    ...(mode === 'warm' ? [] : WARM_ONLY.filter(isGiven).map((name) => objection(name, 'warm'))),
    ...(mode === 'refer' ? BRIDGED_ONLY.filter(isGiven).map((name) => objection(name, 'blind or warm')) : []),
  ];
}

/** Returns why a request cannot be carried out as it is given. */
export function transferObjections(options: TransferOptions): ErrorDetail[] {
  const { announce } = options;
  const objection = announce === undefined ? undefined : checkTemplate(announce);
  return [
    ...unusedOptions(options),
    ...(objection === undefined ? [] : [{ path: '/announce', message: `announce: ${objection}` }]),
  ];
}
