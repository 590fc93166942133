import type { z } from 'zod';

type Issue = z.core.$ZodIssue;
type IssueOf<Code extends Issue['code']> = Extract<Issue, { code: Code }>;

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  tuple: 'an array',
  object: 'an object',
  record: 'an object',
  map: 'an object',
  null: 'null',
  date: 'a date',
  file: 'a file',
};

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  url: 'a URL',
  email: 'an email address',
  date: 'a date such as 2026-01-31',
  datetime: 'a time with its zone such as 2026-01-31T09:30:00.000Z',
  time: 'a time of day such as 09:30:00',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  cidrv4: 'an IPv4 network such as 192.0.2.0/24',
  cidrv6: 'an IPv6 network such as 2001:db8::/32',
  e164: 'a phone number such as +886212345678',
  base64: 'base64',
  base64url: 'base64url',
  safeint: 'a whole number',
};

const DEFAULT_MESSAGE = /^(?:Invalid|Too (?:small|big)|Unrecognized)\b/;

/**
 * Describes what is wrong with the field at `path`. A custom message of the schema is used as it is: `{field}` in it
 * is replaced by the field's name, and a message that starts with `must` follows the name.
 */
export function describeIssue(issue: Issue, path: readonly PropertyKey[]): string {
  const name = fieldName(path);
  if (!DEFAULT_MESSAGE.test(issue.message)) {
    return issue.message.replace(/^(?=must )/, '{field} ').replaceAll('{field}', name);
  }
  switch (issue.code) {
    case 'invalid_type':
      return describeType(issue, name);
    case 'invalid_value':
      return `${name} must be ${listOf(issue.values.map((value) => JSON.stringify(value)))}`;
    case 'too_small':
      return describeLimit(issue, name, 'least', issue.minimum);
    case 'too_big':
      return describeLimit(issue, name, 'most', issue.maximum);
    case 'invalid_format':
      return describeFormat(issue, name);
    case 'not_multiple_of':
      return `${name} must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return describeUnion(issue, name);
    case 'invalid_key':
      return `${name} is not allowed as a key: ${issue.issues.map((inner) => describeIssue(inner, path)).join('; ')}`;
    default:
      return `${name} is not valid`;
  }
}

/** The field's name for the user: the last name in the path and the indices after it, such as `tools[0]`. */
export function fieldName(path: readonly PropertyKey[]): string {
  const lastName = path.findLastIndex((key) => typeof key !== 'number');
  const [name, ...indices] = lastName < 0 ? ['value', ...path] : path.slice(lastName);
  return `${String(name)}${indices.map((index) => `[${String(index)}]`).join('')}`;
}

export function typeName(type: string): string {
  return TYPE_NAMES[type] ?? type;
}

/** `a`, `a or b`, `a, b or c`. */
export function listOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function describeType(issue: IssueOf<'invalid_type'>, name: string): string {
  const expected = typeName(issue.expected);
  // Only zod's default message contains the received type.
  const received = /received (\w+)$/.exec(issue.message)?.[1];
  if (received === 'undefined') return `${name} is required and must be ${expected}`;
  const came = received && TYPE_NAMES[received] !== expected ? TYPE_NAMES[received] : undefined;
  if (came === undefined || issue.expected === 'int') return `${name} must be ${expected}`;
  return `${name} must be ${expected}, not ${received === 'boolean' ? 'a boolean' : came}`;
}

function describeLimit(
  issue: IssueOf<'too_small'> | IssueOf<'too_big'>,
  name: string,
  side: 'least' | 'most',
  limit: number | bigint,
): string {
  const bound = issue.exact ? 'exactly' : `at ${side}`;
  if (issue.origin === 'string') {
    if (side === 'least' && limit === 1 && !issue.exact) return `${name} must not be empty`;
    return `${name} must have ${bound} ${count(limit, 'character')}`;
  }
  if (issue.origin === 'array' || issue.origin === 'set') {
    return `${name} must have ${bound} ${limit === 1 ? 'one entry' : `${limit} entries`}`;
  }
  if (issue.origin === 'file') return `${name} must have ${bound} ${count(limit, 'byte')}`;
  if (issue.origin === 'object') return `${name} must have ${bound} ${count(limit, 'field')}`;
  const value = issue.origin === 'date' ? new Date(Number(limit)).toISOString() : limit;
  if (issue.inclusive === false) return `${name} must be ${side === 'least' ? 'more' : 'less'} than ${value}`;
  return `${name} must be ${bound} ${value}`;
}

function describeFormat(issue: IssueOf<'invalid_format'>, name: string): string {
  if ('prefix' in issue) return `${name} must start with ${JSON.stringify(issue.prefix)}`;
  if ('suffix' in issue) return `${name} must end with ${JSON.stringify(issue.suffix)}`;
  if ('includes' in issue) return `${name} must contain ${JSON.stringify(issue.includes)}`;
  const known = FORMAT_NAMES[issue.format];
  if (known) return `${name} must be ${known}`;
  return issue.pattern ? `${name} must match ${issue.pattern}` : `${name} must be a valid ${issue.format}`;
}

function describeUnion(issue: IssueOf<'invalid_union'>, name: string): string {
  const options = 'options' in issue ? issue.options : undefined;
  if (!options?.length) return `${name} is not valid`;
  return `${name} must be ${listOf(options.map((option) => JSON.stringify(option)))}`;
}

function count(amount: number | bigint, unit: string): string {
  return `${amount} ${unit}${Number(amount) === 1 ? '' : 's'}`;
}
