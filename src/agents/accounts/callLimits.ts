import { z } from 'zod';

import { sipHost } from '../transferTarget.ts';

const MOST_PREFIXES = 1000;
const MOST_DOMAINS = 100;
const MOST_CALLS = 1_000_000;
const MINUTES_OF_A_THOUSAND_LINES = 1000 * 24 * 60;
const HIGHEST_RATE = 10_000;
const MOST_SPENDING = 1_000_000_000;

/** `+` alone matches all numbers. @see ITU-T E.164 section 6 */
const PREFIX = /^\+([1-9]\d{0,14})?$/;

const prefix = z
  .string()
  .regex(PREFIX, 'must be the beginning of an E.164 number, such as +886; + matches all numbers');
const prefixes = z.array(prefix).max(MOST_PREFIXES);
const rate = z.strictObject({
  prefix,
  perMinute: z.number().min(0).max(HIGHEST_RATE),
});
const domain = z
  .string()
  .max(253)
  .refine((text) => sipHost(text) !== undefined, 'must be a host name or an IP address');
const limit = (most: number) => z.int().min(1).max(most).nullable();

const fields = {
  allowedPrefixes: prefixes
    .describe('If not empty, only numbers with one of these prefixes may be called.')
    .meta({ example: ['+886'] }),
  blockedPrefixes: prefixes
    .describe(
      'Numbers with one of these prefixes may not be called. The longest matching prefix of both lists decides.',
    )
    .meta({ example: ['+8862031'] }),
  ownCountriesOnly: z
    .boolean()
    .describe(
      'While `allowedPrefixes` is empty: only numbers of the countries of the project’s own numbers may be called. Pending claims count only while the project has no verified number.',
    ),
  blockSpecialRates: z
    .boolean()
    .describe(
      'Premium-rate, shared-cost and satellite numbers may not be called, unless `allowedPrefixes` has a prefix of theirs with at least four digits.',
    ),
  allowedSipDomains: z
    .array(domain)
    .max(MOST_DOMAINS)
    .describe(
      'Hosts that the project may transfer calls to by a `sip:` URI, at any port: exactly these, not their subdomains. Hosts of the project’s own trunks need not be listed; a call to one goes over that trunk.',
    )
    .meta({ example: ['pbx.example.com'] }),
  maxConcurrentCalls: limit(MOST_CALLS).describe(
    'Concurrent calls, inbound and outbound, and media streams. Beyond it outbound calls wait in the queue, inbound calls get 503, and media streams 429 `call_limit_exceeded`.',
  ),
  maxCallsPerMinute: limit(MOST_CALLS).describe('Outbound calls accepted per clock minute.'),
  maxCallsPerHour: limit(MOST_CALLS).describe('Outbound calls accepted per clock hour.'),
  maxCallMinutesPerDay: limit(MINUTES_OF_A_THOUSAND_LINES).describe(
    'Total connected minutes of outbound calls per UTC day. Connected calls are hung up when it is reached. The second leg of a bridged transfer counts as an outbound call.',
  ),
  rates: z
    .array(rate)
    .max(MOST_PREFIXES)
    .refine(
      (rates) => new Set(rates.map((one) => one.prefix)).size === rates.length,
      'must have one rate at most for each prefix',
    )
    .describe(
      'Price of a minute of an outbound call, in a currency of your choice. The longest matching prefix decides; a number without a match costs nothing.',
    )
    .meta({ example: [{ prefix: '+886', perMinute: 0.04 }] }),
  maxSpendingPerDay: z
    .number()
    .positive()
    .max(MOST_SPENDING)
    .nullable()
    .describe(
      'Total cost of outbound calls per UTC day, by `rates`. Connected calls are hung up when it is reached.',
    ),
};

/** Limits which numbers a project may call, and how much; null means no limit. */
export const callLimits = z.strictObject(fields).meta({ id: 'CallLimits' });
export const callLimitsPatch = z.strictObject(fields).partial();

export type CallLimits = z.infer<typeof callLimits>;
export type CallLimitsPatch = z.infer<typeof callLimitsPatch>;

export const NO_CALL_LIMITS: CallLimits = {
  allowedPrefixes: [],
  blockedPrefixes: [],
  ownCountriesOnly: false,
  blockSpecialRates: false,
  allowedSipDomains: [],
  maxConcurrentCalls: null,
  maxCallsPerMinute: null,
  maxCallsPerHour: null,
  maxCallMinutesPerDay: null,
  rates: [],
  maxSpendingPerDay: null,
};

/** Limits the damage of a stolen key before the operator has set anything. */
export const NEW_PROJECT_CALL_LIMITS: CallLimits = {
  ...NO_CALL_LIMITS,
  ownCountriesOnly: true,
  blockSpecialRates: true,
  maxConcurrentCalls: 10,
  maxCallsPerMinute: 60,
};
