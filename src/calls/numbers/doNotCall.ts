import { z } from 'zod';

import type { CallingHours } from '../../agents/accounts/callingHours.ts';
import { NUMBER_SYNTAX } from '../../base/values/e164.ts';
import type { Page, PageOf } from '../../base/values/page.ts';

const MOST_NUMBERS = 10_000;
const MAX_REASON_CHARACTERS = 1_000;
const MAX_NUMBER_CHARACTERS = 64;

const reason = z.string().min(1).max(MAX_REASON_CHARACTERS).optional().meta({ example: 'asked by letter' });

export const doNotCallEntry = z
  .object({
    number: z
      .string()
      .nullable()
      .describe('E.164. In lists null once the customer was erased, whose number stays listed as a digest.'),
    source: z
      .enum(['api', 'file', 'spoken', 'dtmf', 'tool'])
      .describe('Who listed it: the API, or the called person by words, by a key, or by the tool `opt_out`.'),
    reason,
    callId: z.uuid().optional().describe('The call in which the person asked for it.'),
    at: z.iso.datetime(),
  })
  .meta({ id: 'DoNotCallEntry' });

export const doNotCallInput = z.strictObject({
  numbers: z
    .array(z.string().max(MAX_NUMBER_CHARACTERS))
    .min(1)
    .max(MOST_NUMBERS)
    .describe(`Each is ${NUMBER_SYNTAX}.`)
    .meta({ example: ['+886912345678'] }),
  reason,
});

export const doNotCallAdded = z.object({
  added: z.int().describe('Numbers that were not listed before.'),
  known: z.int().describe('Numbers that were listed already, and repetitions.'),
});

export type DoNotCallEntry = z.infer<typeof doNotCallEntry>;

/** The project of a list; null for the installation's list, which holds for every project. */
export type ListOwner = string | null;

/** The rules for a call to a number, as they are now. */
export interface CallingRules {
  /** The number is on the list of the project or of the installation. */
  readonly isListed: boolean;
  readonly callingHours: CallingHours | null;
}

/** Reads what decides on a call, in one look-up. @param toNumber - In E.164. */
export type CallingRulesOf = (projectId: string, toNumber: string) => Promise<CallingRules>;

export interface DoNotCallStore {
  /** @param numbers - In E.164. @returns How many were not listed before. */
  add(owner: ListOwner, numbers: readonly string[], entry: Omit<DoNotCallEntry, 'number'>): Promise<number>;
  find(owner: ListOwner, number: string): Promise<DoNotCallEntry | undefined>;
  /** Lists the entries, the newest first. */
  list(owner: ListOwner, page: Page): Promise<PageOf<DoNotCallEntry>>;
  /** @returns False when the number was not listed. */
  remove(owner: ListOwner, number: string): Promise<boolean>;
  /** Returns those of the numbers that are on the list of the project or of the installation. */
  listedAmong(projectId: string, numbers: readonly string[]): Promise<ReadonlySet<string>>;
  readonly rulesFor: CallingRulesOf;
}
