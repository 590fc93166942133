import { z } from 'zod';

import { CHAT_PROVIDERS, EMBEDDING_PROVIDERS, STT_PROVIDERS, TTS_PROVIDERS } from '../../vendors/registry.ts';
import {
  chatModel,
  flag,
  headerList,
  httpUrl,
  instant,
  integer,
  list,
  oneOf,
  provider,
  secretsKey,
  trustedProxies,
  urlWithProtocol,
} from './formats.ts';
import { defaultRecognitionModels, vendorKeys, vendorSettings } from './vendorSettings.ts';

const SENTINEL_WITH_MASTER = /^redis\+sentinel:\/\/[^/]+\/[^/?]+/;

/**
 * All settings by environment variable: format, default and purpose. A test compares `.env.example` and
 * docs/settings.md with this schema.
 */
export const settings = z.object({
  PORT: integer(0, 65_535).default(3000).describe('Port of the HTTP API; 0 selects a free one.'),
  HOST: z.string().default('127.0.0.1').describe('Listen address of the HTTP API.'),
  PUBLIC_URL: httpUrl()
    .optional()
    .describe('External URL of the API, for links in responses and webhooks; default `http://HOST:PORT`.'),
  NODE_URL: httpUrl()
    .optional()
    .describe(
      'URL at which other nodes reach this node’s HTTP server, for the audio of their calls, which it relays to its voice threads, and for its recordings. By default they connect to the threads directly, at free ports of `HOST`, or of this machine’s own address when `HOST` is a wildcard.',
    ),
  TRUST_PROXY: trustedProxies()
    .default(false)
    .describe(
      'Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed: their number, or their addresses as CIDRs, comma-separated; `true` is 1. The client is the first other address from the right.',
    ),
  CORS_ORIGINS: list(z.string().regex(/^https?:\/\/[^/\s]+$/, 'must be origins like https://app.example.com'))
    .default([])
    .describe('Origins whose pages may call the API, comma-separated; none by default.'),
  CONSOLE: flag()
    .default(true)
    .describe('Serve the web console at `/console`, on nodes with the role `api`.'),
  DATA_DIR: z.string().default('./data').describe('Data folder of this machine.'),
  ROLES: list(oneOf(['api', 'worker', 'voice', 'media']))
    .refine((roles) => roles.length > 0, 'must name at least one role')
    .default(['api', 'worker', 'voice', 'media'])
    .describe('Roles of this process, comma-separated: `api`, `worker`, `voice`, `media`.'),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('Minimum log level.'),
  CALLWAY_ADMIN_TOKEN: z
    .string()
    .min(24, 'must have at least 24 characters')
    .optional()
    .describe(
      'Admin token of the operator; generated at the first start in `DATA_DIR/admin-token` when not set.',
    ),
  SECRETS_KEY: secretsKey()
    .optional()
    .describe(
      'Key that encrypts stored secrets: 32 bytes in base64 or hex; generated in `DATA_DIR/secrets-key` when not set. Nodes that share a database need the same key.',
    ),
  SECRETS_KEY_PREVIOUS: list(secretsKey())
    .optional()
    .describe(
      'Previous keys, comma-separated, while `SECRETS_KEY` is rotated; see `callway secrets reseal`.',
    ),
  DATABASE_URL: urlWithProtocol(['postgres:', 'postgresql:'])
    .optional()
    .describe('Postgres 15 or later with pgvector; default an embedded database in `DATA_DIR`.'),
  REDIS_URL: urlWithProtocol(['redis:', 'rediss:', 'redis+sentinel:', 'redis+cluster:', 'rediss+cluster:'])
    .refine(
      (value) => !value.startsWith('redis+sentinel:') || SENTINEL_WITH_MASTER.test(value),
      'must end with the name of the master, such as redis+sentinel://host,host/master',
    )
    .optional()
    .describe(
      'Redis 6.2 or later: `redis://`, `rediss://`, `redis+sentinel://host,host/master` or `redis+cluster://host,host`; default a `redis-server` child process on a private port.',
    ),
  DRACHTIO_URL: urlWithProtocol(['drachtio:'])
    .optional()
    .describe(
      'URL of a drachtio-server, such as `drachtio://:secret@host:9022`; default the embedded SIP server.',
    ),
  SIP_HOST: z.string().default('127.0.0.1').describe('Listen address of the embedded SIP server.'),
  SIP_PORT: integer(0, 65_535).default(5060).describe('Port of the embedded SIP server for UDP and TCP.'),
  SIP_TLS_PORT: integer(0, 65_535)
    .optional()
    .describe('Port of the embedded SIP server for TLS; off by default.'),
  SIP_TLS_CERT_FILE: z.string().optional().describe('Certificate chain of the SIP server (PEM).'),
  SIP_TLS_KEY_FILE: z.string().optional().describe('Private key of the SIP server (PEM).'),
  SIP_TLS_CA_FILE: z
    .string()
    .optional()
    .describe(
      'Additional certificate authorities for SIP over TLS (PEM); `NODE_EXTRA_CA_CERTS` applies too.',
    ),
  SIP_TLS_VERIFY: flag().default(true).describe('Verify the certificates of SIP peers.'),
  PUBLIC_IP: z
    .union([z.ipv4(), z.ipv6()], 'must be an IPv4 or IPv6 address')
    .optional()
    .describe('Public IP address for SIP and SDP, behind NAT.'),
  MEDIA_TIMEOUT_SECONDS: integer(0, 86_400)
    .default(60)
    .describe('Hang up when no RTP has arrived for this long; 0 is off.'),
  RTP_PORT_MIN: integer(1024, 65_534).default(30_000).describe('First UDP port for RTP.'),
  RTP_PORT_MAX: integer(1025, 65_535).default(39_999).describe('Last UDP port for RTP.'),
  MEDIA_WORKERS: integer(1, 256)
    .optional()
    .describe('Number of media threads; default one less than the number of cores.'),
  VOICE_THREADS: integer(1, 256)
    .optional()
    .describe(
      'Maximum number of threads that run voice sessions; default the number of cores, or 1 with offline speech recognition. One starts with the node, the others as calls need them.',
    ),
  MAX_CALLS_PER_NODE: integer(1, 100_000)
    .optional()
    .describe(
      'Maximum number of concurrent calls on this node; default by the number of RTP ports and media threads.',
    ),
  OVERLOAD_EVENT_LOOP_MS: integer(0, 10_000)
    .default(250)
    .describe(
      'New calls are refused while events of this node wait longer than this on average, for three seconds in a row; 0 is off.',
    ),
  OVERLOAD_RTP_MS: integer(0, 100)
    .default(40)
    .describe(
      'New calls are refused while 5 % of the audio packets leave later than this or not at all, for three seconds in a row; 0 is off.',
    ),
  OVERLOAD_QUEUE_MS: integer(0, 3_600_000)
    .default(10_000)
    .describe(
      'Orders of calls are refused when the queue has held calls that no node takes for this long; 0 is off.',
    ),
  OPENAI_API_KEY: z.string().optional().describe('API key of the OpenAI-compatible endpoint.'),
  OPENAI_BASE_URL: httpUrl()
    .optional()
    .describe('Base URL of the OpenAI-compatible endpoint; default OpenAI’s own when a key is set.'),
  CHAT_PROVIDER: provider('Chat provider', CHAT_PROVIDERS),
  CHAT_MODELS_ALLOWED: list(z.string())
    .optional()
    .describe(
      'Chat models that agents and nodes of projects may name, comma-separated; all by default. Those of the installation are always allowed where none is named.',
    ),
  STT_PROVIDER: provider('Speech-to-text provider', STT_PROVIDERS),
  TTS_PROVIDER: provider('Text-to-speech provider', TTS_PROVIDERS),
  STT_API_KEY: z
    .string()
    .optional()
    .describe(
      'API key of the OpenAI-compatible endpoint for speech recognition; default `OPENAI_API_KEY`, unless `STT_BASE_URL` is set.',
    ),
  STT_BASE_URL: httpUrl()
    .optional()
    .describe(
      'Base URL of the OpenAI-compatible endpoint for speech recognition; default `OPENAI_BASE_URL`.',
    ),
  TTS_API_KEY: z
    .string()
    .optional()
    .describe(
      'API key of the OpenAI-compatible endpoint for speech synthesis; default `OPENAI_API_KEY`, unless `TTS_BASE_URL` is set.',
    ),
  TTS_BASE_URL: httpUrl()
    .optional()
    .describe('Base URL of the OpenAI-compatible endpoint for speech synthesis; default `OPENAI_BASE_URL`.'),
  EMBEDDING_PROVIDER: provider('Embedding provider', EMBEDDING_PROVIDERS),
  VOICE_ACTIVITY: oneOf(['webrtc', 'neural'])
    .default('webrtc')
    .describe(
      'Voice activity detection: `webrtc`, or `neural` for a second model that ignores traffic noise and most background speech, at up to 4 % of a core while a caller speaks.',
    ),
  CHAT_MODEL_SMART: chatModel('smart'),
  CHAT_MODEL_BALANCE: chatModel('balance'),
  CHAT_MODEL_TURBO: chatModel('turbo'),
  MODEL_TIMEOUT_SECONDS: integer(1, 600)
    .default(15)
    .describe('Timeout for a chat model’s first token, and between two tokens.'),
  STT_MODEL: z
    .string()
    .optional()
    .describe(
      `Speech-to-text model; default the provider’s own, by the language: \`gpt-transcribe\` of OpenAI, \`whisper-1\` of servers like it, ${defaultRecognitionModels()}.`,
    ),
  TTS_MODEL: z
    .string()
    .optional()
    .describe(
      'Text-to-speech model; default by provider, `gpt-realtime-2.1-mini` of OpenAI, `tts-1` of servers like it.',
    ),
  TTS_VOICE: z
    .string()
    .optional()
    .describe('Voice, by its name or id at the provider; default by provider, `alloy` of `openai`.'),
  ...vendorSettings,
  ANTHROPIC_API_KEY: z.string().optional().describe('API key of Anthropic.'),
  ANTHROPIC_BASE_URL: httpUrl()
    .optional()
    .describe('Base URL of Anthropic, without a path; default `https://api.anthropic.com`.'),
  GOOGLE_API_KEY: z.string().optional().describe('API key of the Gemini API.'),
  GOOGLE_BASE_URL: httpUrl()
    .optional()
    .describe(
      'Base URL of the Gemini API, without a path; default `https://generativelanguage.googleapis.com`.',
    ),
  CUSTOM_STT_API_KEY: z.string().optional().describe('API key of your own speech recognizer.'),
  CUSTOM_STT_BASE_URL: httpUrl()
    .optional()
    .describe('Base URL of your own speech recognizer, which speaks `stt.callway.v1`.'),
  CUSTOM_TTS_API_KEY: z.string().optional().describe('API key of your own speech synthesizer.'),
  CUSTOM_TTS_BASE_URL: httpUrl()
    .optional()
    .describe('Base URL of your own speech synthesizer, which speaks `tts.callway.v1`.'),
  CUSTOM_S2S_API_KEY: z.string().optional().describe('API key of your own speech-to-speech server.'),
  CUSTOM_S2S_BASE_URL: httpUrl()
    .optional()
    .describe(
      'Base URL of your own speech-to-speech server, which speaks OpenAI’s Realtime protocol at `/realtime`, below `/v1` where the URL has no path.',
    ),
  EMBEDDING_API_KEY: z.string().optional().describe('API key for embeddings; default `OPENAI_API_KEY`.'),
  EMBEDDING_BASE_URL: httpUrl().optional().describe('Base URL for embeddings; default `OPENAI_BASE_URL`.'),
  LEGACY_SUNSET: instant()
    .default(new Date('2027-09-11T00:00:00.000Z'))
    .describe('Date after which the legacy routes are removed; ISO date, default 2027-09-11.'),
  RATE_LIMIT_PER_MINUTE: integer(0, 100_000_000)
    .default(6000)
    .describe('Maximum requests of an API key per minute; 0 is off.'),
  RATE_LIMIT_PROJECT_PER_MINUTE: integer(0, 100_000_000)
    .default(0)
    .describe('Maximum requests of all API keys of a project per minute; 0 is off.'),
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: integer(0, 100_000_000)
    .default(300)
    .describe('Maximum failed authentications per source address and minute; 0 is off.'),
  ALLOW_PRIVATE_TRUNKS: flag()
    .default(true)
    .describe(
      'Allow hosts of trunks at private and loopback addresses. When false, only the admin token may set such a host, and the embedded SIP server sends to public addresses only. `false` where strangers share the installation.',
    ),
  NUMBER_OWNERSHIP: oneOf(['open', 'verified'])
    .optional()
    .describe(
      'Who may take calls to a number: `open`, the project that claims it first; `verified`, only once the operator has verified the claim. Default `open` while the installation has one project, else `verified`.',
    ),
  ALLOW_INSECURE_WEBHOOKS: flag()
    .default(false)
    .describe(
      'Allow webhooks, HTTP tools and `beforeStartConfig` to use loopback addresses over http. For development.',
    ),
  FINALIZE_TIMEOUT_SECONDS: integer(1, 86_400)
    .default(120)
    .describe('How long `session.finalized` waits for earlier webhooks.'),
  DRAIN_SECONDS: integer(0, 86_400)
    .default(300)
    .describe('How long a shutdown waits for running calls and requests.'),
  AUDIOSOCKET_PORT: integer(1, 65_535)
    .optional()
    .describe(
      'TCP port for the `audiosocket` dialect of Asterisk, on nodes with the role `api` or `voice`; by default none. Its audio is not encrypted.',
    ),
  METRICS_PORT: integer(1, 65_535)
    .optional()
    .describe('Port of `/metrics` alone, which carriers and clients need not reach; default on `PORT`.'),
  AUDIT_RETENTION_DAYS: integer(1, 36_500)
    .default(365)
    .describe('How long audit entries are kept, those of deleted projects too.'),
  MAX_UPLOAD_BYTES: integer(1, 10_737_418_240)
    .default(52_428_800)
    .describe('Maximum size of a document; default 50 MiB.'),
  MAX_IMPORT_BYTES: integer(1, 10_737_418_240)
    .default(536_870_912)
    .describe('Maximum size of a list of contacts or of numbers; default 512 MiB.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl()
    .optional()
    .describe(
      'OpenTelemetry collector for traces over OTLP/HTTP, such as `http://host:4318`; no traces by default.',
    ),
  OTEL_EXPORTER_OTLP_HEADERS: headerList()
    .optional()
    .describe('Headers for the collector as `name=value`, comma-separated.'),
  OTEL_SERVICE_NAME: z.string().default('callway').describe('Service name in traces.'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0|1|0?\.\d{1,9}|1\.0+)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(1)
    .describe('Sampling ratio of traces, 0 to 1; the sampling decision of a parent span takes precedence.'),
  S3_BUCKET: z.string().optional().describe('S3 bucket for recordings and documents; default `DATA_DIR`.'),
  S3_REGION: z.string().default('us-east-1').describe('S3 region.'),
  S3_ENDPOINT: httpUrl().optional().describe('S3 endpoint, for stores other than AWS.'),
  S3_ACCESS_KEY_ID: z.string().optional().describe('S3 access key; default the AWS credential chain.'),
  S3_SECRET_ACCESS_KEY: z.string().optional().describe('S3 secret key.'),
  S3_FORCE_PATH_STYLE: flag()
    .default(false)
    .describe('Use path-style URLs, as most stores other than AWS require.'),
});

export type Settings = z.infer<typeof settings>;
export type SettingName = keyof Settings;

/** Settings whose values never appear in logs, errors or reports. */
export const secretSettings: readonly SettingName[] = [
  'CALLWAY_ADMIN_TOKEN',
  'SECRETS_KEY',
  'SECRETS_KEY_PREVIOUS',
  'DATABASE_URL',
  'REDIS_URL',
  'DRACHTIO_URL',
  'ANTHROPIC_API_KEY',
  'GOOGLE_API_KEY',
  'OPENAI_API_KEY',
  'STT_API_KEY',
  'TTS_API_KEY',
  'EMBEDDING_API_KEY',
  'CUSTOM_STT_API_KEY',
  'CUSTOM_TTS_API_KEY',
  'CUSTOM_S2S_API_KEY',
  ...vendorKeys,
  'OTEL_EXPORTER_OTLP_HEADERS',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
];
