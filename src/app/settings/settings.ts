import { z } from 'zod';

const SENTINEL_WITH_MASTER = /^redis\+sentinel:\/\/[^/]+\/[^/?]+/;

/**
 * Every setting that Callway knows, by its environment variable: its form, its default and what it is for.
 * A test holds `.env.example` and docs/settings.md equal to this schema.
 */
export const settings = z.object({
  PORT: integer(0, 65_535).default(3000).describe('Port of the HTTP API; 0 takes a free one.'),
  HOST: z.string().default('127.0.0.1').describe('Address the HTTP API listens on.'),
  PUBLIC_URL: httpUrl()
    .optional()
    .describe(
      'How the outside reaches the API, for links in answers and webhooks; default `http://HOST:PORT`.',
    ),
  NODE_URL: httpUrl()
    .optional()
    .describe(
      'How other nodes reach this one’s HTTP server, for the audio of their calls; default `http://HOST:PORT`, with this machine’s own address where `HOST` is all of them.',
    ),
  TRUST_PROXY: flag()
    .default(false)
    .describe('Believe `X-Forwarded-For` and `X-Forwarded-Proto`; only behind a proxy that sets them.'),
  CORS_ORIGINS: list(z.string().regex(/^https?:\/\/[^/\s]+$/, 'must be origins like https://app.example.com'))
    .default([])
    .describe('Origins whose pages may call the API, separated by commas; none by default.'),
  DATA_DIR: z.string().default('./data').describe('Folder of everything that is kept on this machine.'),
  ROLES: list(oneOf(['api', 'worker', 'voice', 'media']))
    .refine((roles) => roles.length > 0, 'must name at least one role')
    .default(['api', 'worker', 'voice', 'media'])
    .describe('What this process does: `api`, `worker`, `voice`, `media`, separated by commas.'),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('Least severity that is logged.'),
  CALLWAY_ADMIN_TOKEN: z
    .string()
    .min(24, 'must have at least 24 characters')
    .optional()
    .describe(
      'The operator’s token; without it one is made at the first start and kept in `DATA_DIR/admin-token`.',
    ),
  SECRETS_KEY: secretsKey()
    .optional()
    .describe(
      '32 bytes in base64 or hex that seal stored secrets; without it one is made and kept in `DATA_DIR/secrets-key`. Nodes that share a database need the same one.',
    ),
  SECRETS_KEY_PREVIOUS: list(secretsKey())
    .optional()
    .describe(
      'Further keys that secrets may be sealed with, separated by commas, while `SECRETS_KEY` is changed; see `callway secrets reseal`.',
    ),
  DATABASE_URL: urlWithProtocol(['postgres:', 'postgresql:'])
    .optional()
    .describe('Postgres 15 or later with pgvector; without it a database in `DATA_DIR` is used.'),
  REDIS_URL: urlWithProtocol(['redis:', 'rediss:', 'redis+sentinel:', 'redis+cluster:', 'rediss+cluster:'])
    .refine(
      (value) => !value.startsWith('redis+sentinel:') || SENTINEL_WITH_MASTER.test(value),
      'must end with the name of the master, as in redis+sentinel://host,host/master',
    )
    .optional()
    .describe(
      'Redis 6.2 or later: `redis://`, `rediss://`, `redis+sentinel://host,host/master` or `redis+cluster://host,host`; without it a `redis-server` is started on a private port.',
    ),
  DRACHTIO_URL: urlWithProtocol(['drachtio:'])
    .optional()
    .describe(
      'A drachtio-server, as `drachtio://:secret@host:9022`; without it the embedded SIP server runs.',
    ),
  SIP_HOST: z.string().default('127.0.0.1').describe('Address the embedded SIP server listens on.'),
  SIP_PORT: integer(0, 65_535).default(5060).describe('Its port, for UDP and TCP.'),
  SIP_TLS_PORT: integer(0, 65_535).optional().describe('Its port for TLS; none without it.'),
  SIP_TLS_CERT_FILE: z.string().optional().describe('Certificate chain (PEM) of the SIP server.'),
  SIP_TLS_KEY_FILE: z.string().optional().describe('Private key (PEM) of the SIP server.'),
  SIP_TLS_CA_FILE: z
    .string()
    .optional()
    .describe(
      'Authorities (PEM) to trust for SIP over TLS, beside the system’s; `NODE_EXTRA_CA_CERTS` counts too.',
    ),
  SIP_TLS_VERIFY: flag().default(true).describe('Verify the certificates of SIP peers.'),
  PUBLIC_IP: z
    .union([z.ipv4(), z.ipv6()], 'must be an IPv4 or IPv6 address')
    .optional()
    .describe('Address to give to carriers in SIP and SDP, behind NAT.'),
  MEDIA_TIMEOUT_SECONDS: integer(0, 86_400)
    .default(60)
    .describe('Hang up when the peer has sent no RTP for so long; 0 is off.'),
  RTP_PORT_MIN: integer(1024, 65_534).default(30_000).describe('First UDP port for audio.'),
  RTP_PORT_MAX: integer(1025, 65_535).default(39_999).describe('Last UDP port for audio.'),
  MEDIA_WORKERS: integer(1, 256).optional().describe('Threads for audio; default one per core less one.'),
  MAX_CALLS_PER_NODE: integer(1, 100_000)
    .optional()
    .describe(
      'Calls that this node carries at a time; default what its ports and threads for audio are good for.',
    ),
  OPENAI_API_KEY: z.string().optional().describe('Key of the OpenAI-compatible endpoint.'),
  OPENAI_BASE_URL: httpUrl().optional().describe('Its address; default OpenAI’s own when a key is set.'),
  CHAT_PROVIDER: provider().describe('Who answers: `openai`, or `local` for the rehearsal model.'),
  STT_PROVIDER: provider().describe('Who hears: `openai` or `local`.'),
  TTS_PROVIDER: provider().describe('Who speaks: `openai` or `local`.'),
  EMBEDDING_PROVIDER: provider().describe('Who embeds: `openai` or `local`.'),
  VOICE_ACTIVITY: oneOf(['webrtc', 'neural'])
    .default('webrtc')
    .describe(
      'What tells callers’ speech from other sounds: `webrtc`, or `neural` for a second opinion that passes over traffic and most talk behind a caller, for up to 4 % of a core while a caller speaks.',
    ),
  CHAT_MODEL_SMART: z.string().default('gpt-4.1').describe('Model of the execution mode `smart`.'),
  CHAT_MODEL_BALANCE: z.string().default('gpt-4.1-mini').describe('Model of the execution mode `balance`.'),
  CHAT_MODEL_TURBO: z.string().default('gpt-4.1-nano').describe('Model of the execution mode `turbo`.'),
  MODEL_TIMEOUT_SECONDS: integer(1, 600)
    .default(15)
    .describe('Bound on the wait for a model’s first token, and on the gap between two tokens.'),
  STT_MODEL: z.string().default('gpt-4o-mini-transcribe').describe('Transcription model.'),
  TTS_MODEL: z.string().default('gpt-4o-mini-tts').describe('Speech model.'),
  TTS_VOICE: z.string().default('alloy').describe('Voice of the speech model.'),
  EMBEDDING_API_KEY: z
    .string()
    .optional()
    .describe('Key for embeddings where it differs from `OPENAI_API_KEY`.'),
  EMBEDDING_BASE_URL: httpUrl()
    .optional()
    .describe('Endpoint for embeddings where it differs from `OPENAI_BASE_URL`.'),
  LEGACY_SUNSET: instant()
    .default(new Date('2027-09-11T00:00:00.000Z'))
    .describe('When the legacy routes end; ISO date, default 2027-09-11.'),
  RATE_LIMIT_PER_MINUTE: integer(0, 100_000_000)
    .default(6000)
    .describe('Requests a key may make a minute; 0 is off.'),
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: integer(0, 100_000_000)
    .default(300)
    .describe('Refused credentials per source address a minute; 0 is off.'),
  ALLOW_INSECURE_WEBHOOKS: flag()
    .default(false)
    .describe('Let webhooks, HTTP tools and `beforeStartConfig` reach loopback over http. For development.'),
  FINALIZE_TIMEOUT_SECONDS: integer(1, 86_400)
    .default(120)
    .describe('How long `session.finalized` waits for the events before it.'),
  DRAIN_SECONDS: integer(0, 86_400)
    .default(300)
    .describe('How long a stop waits for running calls and requests.'),
  MAX_UPLOAD_BYTES: integer(1, 10_737_418_240)
    .default(52_428_800)
    .describe('Largest document; default 50 MiB.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl()
    .optional()
    .describe(
      'An OpenTelemetry collector that takes traces over OTLP/HTTP, as `http://host:4318`; none without it.',
    ),
  OTEL_EXPORTER_OTLP_HEADERS: headerList()
    .optional()
    .describe('Headers for it, as `name=value`, separated by commas.'),
  OTEL_SERVICE_NAME: z.string().default('callway').describe('What this service is called in traces.'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0|1|0?\.\d{1,9}|1\.0+)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(1)
    .describe('Share of the traces that are kept, 0 to 1; whoever began a trace has decided for it.'),
  S3_BUCKET: z
    .string()
    .optional()
    .describe('Bucket for recordings and documents; without it they lie in `DATA_DIR`.'),
  S3_REGION: z.string().default('us-east-1').describe('Its region.'),
  S3_ENDPOINT: httpUrl().optional().describe('Its endpoint, for stores other than AWS.'),
  S3_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe('Access key; without it the environment’s own credentials.'),
  S3_SECRET_ACCESS_KEY: z.string().optional().describe('Its secret.'),
  S3_FORCE_PATH_STYLE: flag()
    .default(false)
    .describe('Put the bucket into the path, as most other stores want it.'),
});

export type Settings = z.infer<typeof settings>;
export type SettingName = keyof Settings;

/** Settings whose value never appears in a log, an error or a report. */
export const secretSettings: readonly SettingName[] = [
  'CALLWAY_ADMIN_TOKEN',
  'SECRETS_KEY',
  'SECRETS_KEY_PREVIOUS',
  'DATABASE_URL',
  'REDIS_URL',
  'DRACHTIO_URL',
  'OPENAI_API_KEY',
  'EMBEDDING_API_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
];

function integer(minimum: number, maximum: number) {
  const message = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, message);
}

function oneOf<const Names extends readonly string[]>(names: Names) {
  return z.enum(names, `must be one of ${names.join(', ')}`);
}

function flag() {
  return z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true');
}

function list<Item extends z.ZodType<unknown, string>>(item: Item) {
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
function headerList() {
  const pair = z.string().regex(/^[\w-]+=[^\r\n]*$/, 'must be name=value pairs, separated by commas');
  const entry = (text: string) =>
    [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)] as const;
  return list(pair).transform((pairs): Record<string, string> => Object.fromEntries(pairs.map(entry)));
}

function provider() {
  return oneOf(['openai', 'local']).optional();
}

function httpUrl() {
  return urlWithProtocol(['http:', 'https:']).transform((value) => value.replace(/\/+$/, ''));
}

function urlWithProtocol(protocols: readonly string[]) {
  const wanted = protocols.map((protocol) => `${protocol}//`).join(' or ');
  return z.string().refine((value) => {
    // A list of hosts is no URL to the parser; the first host stands for the form.
    const first = value.replace(/^([^@]*@)?([^,/]*\/\/[^,/]*)(,[^/]*)/, '$1$2');
    return URL.canParse(first) && protocols.includes(new URL(first).protocol);
  }, `must be an address that begins with ${wanted}`);
}

function instant() {
  return z
    .union([z.iso.date(), z.iso.datetime({ offset: true })], 'must be an ISO date such as 2027-09-11')
    .transform((value) => new Date(value));
}

function secretsKey() {
  return z
    .string()
    .transform((value) => Buffer.from(value, /^[0-9a-f]{64}$/i.test(value) ? 'hex' : 'base64'))
    .refine(
      (key) => key.length === 32,
      'must be 32 bytes in base64 or hex (make one with: openssl rand -base64 32)',
    );
}
