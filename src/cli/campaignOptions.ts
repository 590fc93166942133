import { InvalidArgumentError } from 'commander';
import { type CallingWindow, callingWindows, WEEKDAYS } from '../agents/accounts/callingHours.ts';
import { zodDetails } from '../base/validation.ts';
import { type ContactMapping, contactMapping } from '../campaigns/imports/contactImport.ts';

const FIELDS = contactMapping.keyof().options;
const DAYS: readonly string[] = WEEKDAYS;
/** `mon-fri 09:00-18:00`, `sat,sun 10:00-16:00`. */
const WINDOW = /^([a-z, -]+?) +(\d{1,2}:\d\d) *- *(\d{1,2}:\d\d)$/;

/** Adds `toNumber=Phone` to a mapping. @throws {InvalidArgumentError} */
export function toMapping(text: string, mapping: Partial<ContactMapping> = {}): Partial<ContactMapping> {
  const [, name = '', header = ''] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  const field = FIELDS.find((one) => one === name);
  if (!field || header.trim() === '')
    throw new InvalidArgumentError(`It must be field=column, with a field of ${FIELDS.join(', ')}.`);
  if (mapping[field] !== undefined) throw new InvalidArgumentError(`${field} has a column already.`);
  return { ...mapping, [field]: header };
}

/** Adds a window such as `mon-fri 09:00-18:00` to others. @throws {InvalidArgumentError} */
export function toWindows(text: string, windows: readonly CallingWindow[] = []): CallingWindow[] {
  const [, days = '', from = '', to = ''] = WINDOW.exec(text.trim().toLowerCase()) ?? [];
  if (days === '') throw new InvalidArgumentError('It must be like "mon-fri 09:00-18:00".');
  const window = {
    days: days.split(',').flatMap(daysOf),
    from: from.padStart(5, '0'),
    to: to.padStart(5, '0'),
  };
  const { data, error } = callingWindows.safeParse([...windows, window]);
  if (data) return data;
  throw new InvalidArgumentError(
    `${zodDetails(error)
      .map(({ message }) => message)
      .join('; ')}.`,
  );
}

/** The days of `fri-mon`, or of `sat`. */
function daysOf(text: string): string[] {
  const [first, last = first, ...others] = text.split('-').map((name) => DAYS.indexOf(name.trim()));
  if (first === undefined || last === undefined || others.length > 0 || first < 0 || last < 0)
    throw new InvalidArgumentError(`"${text}" is not a day, or days, of ${DAYS.join(', ')}.`);
  const week = [...DAYS.slice(first), ...DAYS.slice(0, first)];
  return week.slice(0, ((last - first + DAYS.length) % DAYS.length) + 1);
}
