import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { type ChatTiers, DEFAULT_CHAT_MODELS } from '../../models/ports/modelCatalog.ts';

export function integer(minimum: number, maximum: number) {
  const message = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, message);
}

export function trustedProxies() {
  const message = 'must be false, the number of proxies in front, or their addresses such as 10.0.0.0/8,::1';
  return z.string().transform((text, { addIssue }): false | number | string[] => {
    if (text === 'false') return false;
    if (text === 'true') return 1;
    if (/^[1-9]\d?$/.test(text)) return Number(text);
    const ranges = text.split(',').map((range) => range.trim());
    if (!ranges.every(isAddressOrRange)) addIssue({ code: 'custom', message });
    return ranges;
  });
}

function isAddressOrRange(text: string): boolean {
  return text.includes('/') ? ipaddr.isValidCIDR(text) : isIP(text) !== 0;
}

export function oneOf<const Names extends readonly string[]>(names: Names) {
  return z.enum(names, `must be one of ${names.join(', ')}`);
}

export function flag() {
  return z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true');
}

export function list<Item extends z.ZodType<unknown, string>>(item: Item) {
  return z
    .string()
    .transform((value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .pipe(z.array(item));
}

/** @see https://opentelemetry.io/docs/specs/otel/protocol/exporter/ */
export function headerList() {
  const pair = z.string().regex(/^[\w-]+=[^\r\n]*$/, 'must be name=value pairs, separated by commas');
  const entry = (text: string) =>
    [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)] as const;
  return list(pair).transform((pairs): Record<string, string> => Object.fromEntries(pairs.map(entry)));
}

export function chatModel(mode: keyof ChatTiers) {
  const defaults = Object.entries(DEFAULT_CHAT_MODELS).map(
    ([provider, models]) => `\`${models[mode]}\` of \`${provider}\``,
  );
  return z
    .string()
    .optional()
    .describe(`Chat model of the execution mode \`${mode}\`; default by provider, ${defaults.join(', ')}.`);
}

export function provider<Name extends string>(what: string, registry: Readonly<Record<Name, unknown>>) {
  const names = Object.keys(registry) as Name[];
  const shown = new Intl.ListFormat('en', { type: 'disjunction' }).format(names.map((name) => `\`${name}\``));
  return z
    .enum(names, `must be one of ${names.join(', ')}`)
    .optional()
    .describe(`${what}: ${shown}.`);
}

export function httpUrl() {
  return urlWithProtocol(['http:', 'https:']).transform((value) => value.replace(/\/+$/, ''));
}

export function urlWithProtocol(protocols: readonly string[]) {
  const wanted = protocols.map((protocol) => `${protocol}//`).join(' or ');
  return z.string().refine((value) => {
    // URL cannot parse a list of hosts; check the first one.
    const first = value.replace(/^([^@]*@)?([^,/]*\/\/[^,/]*)(,[^/]*)/, '$1$2');
    return URL.canParse(first) && protocols.includes(new URL(first).protocol);
  }, `must be a URL that starts with ${wanted}`);
}

export function instant() {
  return z
    .union([z.iso.date(), z.iso.datetime({ offset: true })], 'must be an ISO date such as 2027-09-11')
    .transform((value) => new Date(value));
}

export function secretsKey() {
  return z
    .string()
    .transform((value) => Buffer.from(value, /^[0-9a-f]{64}$/i.test(value) ? 'hex' : 'base64'))
    .refine(
      (key) => key.length === 32,
      'must be 32 bytes in base64 or hex (make one with: openssl rand -base64 32)',
    );
}
