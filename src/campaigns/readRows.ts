import { setImmediate as eventLoopTurn } from 'node:timers/promises';

import { timezone as ianaTimezone } from '../agents/fields.ts';
import type { MakeId } from '../base/values/ids.ts';
import { timeZonesOfNumber } from '../base/values/numberTimeZones.ts';
import type { Campaign } from './campaign.ts';
import type { Contact, ContactInput, SkipReason } from './contact.ts';
import { listNumberReader } from './listNumber.ts';

/** Rows that are read in a few milliseconds, before others have their turn. */
const ROWS_AT_ONCE = 100;

/** A number as spreadsheets write long ones: `8.86912E+11`. Its last digits are lost. */
const ROUNDED = /^\d(?:[.,]\d+)?e\+?\d+$/i;

/** A row that was read: a contact, or why it was skipped. */
export type ReadRow = { readonly contact: Contact } | SkippedRead;
interface SkippedRead {
  readonly code: SkipReason;
  readonly message: string;
}

export interface ReadRowsDeps {
  /** Tells why the project may not call a number; undefined where it may. */
  readonly refusalOf: (toNumber: string) => string | undefined;
  /** Returns those of the numbers that are on a do-not-call list. */
  readonly listed: (numbers: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly makeId: MakeId;
}

/** Reads rows of a list, some at a time. @returns A result for each row, in order. */
export async function readRows(
  deps: ReadRowsDeps,
  campaign: Campaign,
  rows: readonly ContactInput[],
): Promise<ReadRow[]> {
  const readOne = rowReader(deps, campaign);
  const read: ReadRow[] = [];
  for (const row of rows) {
    if (read.length % ROWS_AT_ONCE === 0) await eventLoopTurn();
    read.push(readOne(row));
  }
  const listed = await deps.listed(read.flatMap((row) => ('contact' in row ? row.contact.toNumber : [])));
  const seen = new Set<string>();
  return read.map((row) => {
    if (!('contact' in row)) return row;
    const { toNumber } = row.contact;
    if (listed.has(toNumber)) return skip('do_not_call', `${toNumber} is on a do-not-call list`);
    if (seen.has(toNumber)) return duplicate(toNumber);
    seen.add(toNumber);
    return row;
  });
}

export function missingNumber(): SkippedRead {
  return skip('missing_number', 'It has no toNumber');
}

/** @param from - The number in whose country national numbers were read, too. */
export function invalidNumber(text: string, from: string | undefined): SkippedRead {
  if (ROUNDED.test(text.trim())) {
    const message = `${text} was rounded by a spreadsheet: format the column as text before the export`;
    return skip('invalid_number', message);
  }
  const orNational = from === undefined ? '' : `, nor one of the country of ${from}`;
  return skip('invalid_number', `${text} is no number in E.164${orNational}`);
}

export function duplicate(toNumber: string): ReadRow {
  return skip('duplicate', `The campaign has ${toNumber} already`);
}

function rowReader(
  { refusalOf, makeId }: ReadRowsDeps,
  { id: campaignId, projectId, fromNumbers: [from] }: Campaign,
): (row: ContactInput) => ReadRow {
  const readNumber = listNumberReader(from);
  const isZone = zoneCheck();
  return ({ variables, timezone, externalId, notBefore, priority, ...row }) => {
    const text = row.toNumber?.trim() ?? '';
    if (text === '') return missingNumber();
    const toNumber = readNumber(text);
    if (toNumber === undefined) return invalidNumber(text, from);
    const zone = timezone?.trim() || null;
    if (zone !== null && !isZone(zone))
      return skip('bad_timezone', `${zone} is no IANA time zone such as Asia/Taipei`);
    const refusal = refusalOf(toNumber);
    if (refusal !== undefined)
      return skip('destination_not_allowed', `This project may not call ${toNumber}: ${refusal}`);
    const contact: Contact = {
      id: makeId(),
      campaignId,
      projectId,
      toNumber,
      externalId: externalId ?? null,
      variables: variables ?? {},
      timezone: zone,
      zones: zone === null ? timeZonesOfNumber(toNumber) : [zone],
      priority: priority ?? 0,
      status: 'pending',
      skipReason: null,
      attempts: [],
      outcome: null,
      callId: null,
      notBefore: notBefore ?? null,
    };
    return { contact };
  };
}

/** A zone takes a fraction of a millisecond to check, and a list has few. */
function zoneCheck(): (name: string) => boolean {
  const known = new Map<string, boolean>();
  return (name) => {
    const isZone = known.get(name) ?? ianaTimezone.safeParse(name).success;
    known.set(name, isZone);
    return isZone;
  };
}

function skip(code: SkipReason, message: string): SkippedRead {
  return { code, message };
}
