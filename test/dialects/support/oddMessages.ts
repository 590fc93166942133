import type { StreamMessage } from '../../../src/dialects/dialect.ts';

/** Objects have no text of their own, and names of methods are keys of every object. */
export const ODD_VALUES: readonly unknown[] = [
  ...[{ toString: 1 }, 'constructor', '__proto__', [[]], -1, 0.5, 1e300, ' '.repeat(60_000)],
];

export function toText(value: unknown): string {
  return JSON.stringify(value, (_, field) => (typeof field === 'bigint' ? 0 : field)) ?? 'undefined';
}

/** @returns The text with each of its values replaced in turn: of JSON, or of `EVENT name:value …`. None of a binary message. */
export function withOddValue(message: StreamMessage, value: unknown): readonly string[] {
  if (typeof message !== 'string') return [];
  if (message.startsWith('{')) return replaceEach(JSON.parse(message), value).map(toText);
  const odd = `:${typeof value === 'object' ? toText(value) : String(value)}`;
  return [...message.matchAll(/:[^ ]+/g)].map(({ 0: found, index }) =>
    message.slice(0, index).concat(odd, message.slice(index + found.length)),
  );
}

function replaceEach(fields: object, value: unknown): readonly object[] {
  return Object.entries(fields).flatMap(([name, field]) => [
    { ...fields, [name]: value },
    ...(typeof field === 'object' && field !== null
      ? replaceEach(field, value).map((changed) => ({ ...fields, [name]: changed }))
      : []),
  ]);
}
