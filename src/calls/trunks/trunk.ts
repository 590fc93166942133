import { isIP, isIPv6 } from 'node:net';

import { z } from 'zod';

import { CallwayError, type ErrorDetail, invalid } from '../../base/errors.ts';
import { milliseconds } from '../../base/validation.ts';
import { classifyHostname } from '../../http/address.ts';
import { DEFAULT_LATCHING } from '../../media/transport/sourceLatch.ts';
import { headerName, headersToVariables, ownHeaderName, variablesToHeaders } from './trunkHeaders.ts';

export const TRUNK_CODECS = ['PCMU', 'PCMA', 'G722', 'opus'] as const;
export const DEFAULT_SIP_PORT = 5060;
/** The usual value of carriers; RFC 3261 section 10.2 sets no default. */
const DEFAULT_REGISTER_EXPIRES_SECONDS = 3600;
const DEFAULT_MAX_CHANNELS = 30;
const DEFAULT_CALLS_PER_SECOND = 5;
/** The time from INVITE to the first response of any kind. After it the next trunk is tried. */
const DEFAULT_RESPONSE_TIMEOUT_SECONDS = 5;
const DEFAULT_OPTIONS_INTERVAL_SECONDS = 30;
/** Works with every peer. */
const DEFAULT_TRANSFER = 'auto';

/** A host name or an IP address; an IPv6 address may stand in brackets. */
const host = z
  .string()
  .min(1)
  .max(253)
  .regex(/^(\[[0-9a-fA-F:.]+\]|[0-9a-fA-F:]*:[0-9a-fA-F:.]+|[A-Za-z0-9._-]+)$/, {
    error: 'must be a host name or an IP address',
    abort: true,
  });
/** The text has no character that could start another header. */
const oneLine = z.string().regex(/^[^\r\n\0]*$/, 'must be one line');
const headerValue = oneLine.max(1000);

const fields = {
  name: z.string().min(1).max(128),
  status: z.enum(['active', 'inactive']).describe('An inactive trunk carries no calls.'),
  host,
  port: z.int().min(1).max(65_535),
  transport: z.enum(['udp', 'tcp', 'tls']),
  username: oneLine.min(1).max(255).nullable(),
  realm: oneLine.min(1).max(255).nullable().describe('Answer challenges of this realm only.'),
  fromDomain: host.nullable().describe('Host of the From header; by default the trunk’s host.'),
  outboundProxy: headerValue
    .min(1)
    .nullable()
    .describe('`sip:` URI or `host[:port]` that requests are sent to instead of the host.'),
  register: z
    .boolean()
    .describe('Register `username` at the host. Calls then go by the Service-Route of its answer, if any.'),
  registerExpires: z.int().min(60).max(86_400).describe('Seconds.'),
  codecs: z.array(z.enum(TRUNK_CODECS)).min(1).max(TRUNK_CODECS.length).describe('In order of preference.'),
  dtmf: z.enum(['rfc4733', 'info']),
  srtp: z.enum(['off', 'optional', 'required']),
  media: z
    .strictObject({
      latching: z
        .enum(['nat', 'strict'])
        .default(DEFAULT_LATCHING)
        .describe(
          'Whose RTP is taken. `strict`: only the address in the SDP. `nat`: while that address has sent nothing for half a second, also another source that sends a steady stream. Never another after the first.',
        ),
    })
    .describe('The calls’ audio.'),
  transfer: z
    .enum(['auto', 'refer', 'second_leg'])
    .describe(
      'Transfers of calls over this trunk. `auto`: in the mode that they name, and where the peer takes no REFER, by a second call. `refer`: by REFER where they name no mode; a rejected REFER fails; a warm one whose parties are both on the trunk is handed over by REFER with Replaces. `second_leg`: never by REFER.',
    ),
  maxChannels: z.int().min(1).max(10_000).describe('Simultaneous calls over all nodes, both directions.'),
  callsPerSecond: z.number().min(0.1).max(1000).describe('New outbound calls, over all nodes.'),
  priority: z.int().min(0).max(1000).describe('For numbers without a list of trunks; the lowest first.'),
  numberFormat: z
    .enum(['as_given', 'e164', 'e164_without_plus', 'national'])
    .describe('Format of numbers in SIP requests: `+886912345678`, `886912345678`, or `0912345678`.'),
  responseTimeoutSeconds: z
    .int()
    .min(1)
    .max(60)
    .describe('From INVITE to the first response of any kind; then the next trunk.'),
  optionsIntervalSeconds: z
    .int()
    .min(0)
    .max(3600)
    .describe('0 is off; after two OPTIONS without an answer, or with 503, the trunk is unreachable.'),
  followRedirects: z.boolean(),
  headers: z.record(headerName, headerValue).describe('Added to each INVITE.'),
  headersToVariables,
  variablesToHeaders,
  inboundCidrs: z
    .array(z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()], 'must be an IP address or a CIDR range'))
    .max(100)
    .describe('Further sources of this trunk’s inbound calls, besides its host.'),
};

const password = z.string().min(1).max(255).nullable();

const defaults = {
  status: fields.status.default('active'),
  port: fields.port.default(DEFAULT_SIP_PORT),
  transport: fields.transport.default('udp'),
  username: fields.username.default(null),
  realm: fields.realm.default(null),
  fromDomain: fields.fromDomain.default(null),
  outboundProxy: fields.outboundProxy.default(null),
  register: fields.register.default(false),
  registerExpires: fields.registerExpires.default(DEFAULT_REGISTER_EXPIRES_SECONDS),
  codecs: fields.codecs.default(['PCMU', 'PCMA']),
  dtmf: fields.dtmf.default('rfc4733'),
  srtp: fields.srtp.default('off'),
  media: fields.media.default({ latching: DEFAULT_LATCHING }),
  transfer: fields.transfer.default(DEFAULT_TRANSFER),
  maxChannels: fields.maxChannels.default(DEFAULT_MAX_CHANNELS),
  callsPerSecond: fields.callsPerSecond.default(DEFAULT_CALLS_PER_SECOND),
  priority: fields.priority.default(0),
  numberFormat: fields.numberFormat.default('e164'),
  responseTimeoutSeconds: fields.responseTimeoutSeconds.default(DEFAULT_RESPONSE_TIMEOUT_SECONDS),
  optionsIntervalSeconds: fields.optionsIntervalSeconds.default(DEFAULT_OPTIONS_INTERVAL_SECONDS),
  followRedirects: fields.followRedirects.default(false),
  headers: fields.headers.default({}),
  headersToVariables: fields.headersToVariables.default([]),
  variablesToHeaders: fields.variablesToHeaders.default([]),
  inboundCidrs: fields.inboundCidrs.default([]),
};

/** Checked for new values only: stored trunks are returned whatever they hold. */
const strict = {
  host: host.refine(isHost, 'must be a host name or an IP address'),
  outboundProxy: fields.outboundProxy.refine(
    (text) => text === null || isProxy(text),
    'must be a sip: URI or host[:port]',
  ),
  headers: z.record(ownHeaderName, headerValue),
};

export const trunkInput = z.strictObject({
  ...fields,
  ...defaults,
  ...strict,
  outboundProxy: strict.outboundProxy.default(null),
  headers: strict.headers.default({}),
  password: password.default(null),
});
export const trunkPatch = z.strictObject({ ...fields, ...strict, password }).partial();

export const trunkHealth = z.object({
  reachable: z.boolean().nullable().describe('Null while it is not known.'),
  registered: z.boolean().nullable().describe('Null where the trunk does not register.'),
  lastOptionsMs: milliseconds.nullable().describe('Round trip of the last OPTIONS that was answered.'),
  channelsInUse: z.int(),
  /** The reason for which it is not reachable or not registered. */
  error: z.string().nullable(),
});

/** A trunk in the API, without its password. */
export const trunkResource = z
  .object({
    id: z.uuid(),
    ...fields,
    hasPassword: z.boolean(),
    health: trunkHealth,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Trunk' });

export type TrunkInput = z.output<typeof trunkInput>;
export type TrunkPatch = z.output<typeof trunkPatch>;
export type TrunkHealth = z.infer<typeof trunkHealth>;

/** Includes the password; never log it whole. */
export interface Trunk extends TrunkInput {
  /** True when the operator set the host, which may then be private. */
  readonly hasPrivateHost?: boolean;
  readonly id: string;
  readonly projectId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const PROXY =
  /^(?:sips?:(?:[^@\s<>]+@)?)?(?<host>\[[^\]]+\]|[^\s:;?<>@[\]]+)(?::(?<port>\d{1,5}))?(?:;[^\s<>?]*)?$/i;

/**
 * Checks the hosts of a trunk whose host must be public, without DNS; the SIP server checks the addresses of names when it
 * sends.
 *
 * @throws {CallwayError} 403 `private_trunk_needs_operator`
 */
export function requirePublicHosts({
  host,
  outboundProxy,
}: Pick<TrunkInput, 'host' | 'outboundProxy'>): void {
  const plain = outboundProxy?.trim().replace(/^<(.*)>$/, '$1') ?? '';
  const proxy = isIPv6(plain) ? plain : (PROXY.exec(plain)?.groups?.host ?? '');
  for (const name of [host, proxy]) {
    const addressClass = classifyHostname(asResolved(name));
    if (addressClass === undefined || addressClass === 'public') continue;
    const message = `${name} is a ${addressClass} address; only the operator of this installation can set it`;
    throw new CallwayError('forbidden', 'private_trunk_needs_operator', message);
  }
}

/**
 * The address that a number stands for, as in `127.1` or `0x7f000001`.
 *
 * @see https://url.spec.whatwg.org/#concept-ipv4-parser
 */
function asResolved(name: string): string {
  const url = `http://${name}`;
  return !name.includes(':') && URL.canParse(url) ? new URL(url).hostname : name.toLowerCase();
}

/** Returns true for a host name or address. A text with a colon must be an IPv6 address. */
function isHost(text: string): boolean {
  const plain = text.replace(/^\[(.*)\]$/, '$1');
  return text.includes(':') ? isIPv6(plain) : isIP(plain) > 0 || /^[A-Za-z0-9._-]+$/.test(text);
}

function isProxy(text: string): boolean {
  const plain = text.trim().replace(/^<(.*)>$/, '$1');
  if (isIPv6(plain)) return true;
  const { host: name = '', port = '1' } = PROXY.exec(plain)?.groups ?? {};
  return name !== '' && isHost(name) && Number(port) >= 1 && Number(port) <= 65_535;
}

/**
 * Checks the combination of a trunk's fields.
 *
 * @throws {CallwayError} 400 `invalid_trunk`
 */
export function requireUsableTrunk(trunk: TrunkInput): void {
  const problems: ErrorDetail[] = [];
  if (trunk.register && trunk.username === null) {
    problems.push({ path: '/username', message: 'username is required when register is true' });
  }
  if (trunk.password !== null && trunk.username === null) {
    problems.push({ path: '/username', message: 'username is required with a password' });
  }
  if (new Set(trunk.codecs).size !== trunk.codecs.length) {
    problems.push({ path: '/codecs', message: 'codecs must name each codec once' });
  }
  const [first] = problems;
  if (first) throw invalid('invalid_trunk', first.message, problems);
}
