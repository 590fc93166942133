import { VENDORS } from '../../../src/vendors/registry.ts';
import type { FieldTable } from './fieldTable.ts';

/** One gateway with many settings. */
const WHOLE = 'app/settings/gateway.integration.test.ts';
/** The parts that read settings. */
const BUILT = 'app/settings/effects.test.ts';

const HEARS = `${BUILT} › name the recognizer %s, its key, address and model`;
const SPEAKS = `${BUILT} › name the voice of %s, its key, address and model`;

/** The rows of a vendor's key and address, which the test builds from the vendor's name. */
function credentialRows(vendor: string, test: string): FieldTable['rows'] {
  const names = ['_API_KEY', '_BASE_URL'];
  return Object.fromEntries(names.map((as) => [`${vendor.toUpperCase()}${as}`, { test, as }]));
}

const vendorRows = Object.fromEntries(
  Object.entries(VENDORS).flatMap(([name, vendor]) =>
    'service' in vendor ? Object.entries(credentialRows(name, 'recognition' in vendor ? HEARS : SPEAKS)) : [],
  ),
);

/** Each setting's test, which sets it and sees its effect. */
export const SETTINGS_ROWS: FieldTable['rows'] = {
  PORT: 'app/startup.integration.test.ts › A node is alive and not ready while the database is migrated',
  NODE_URL:
    'app/roles.integration.test.ts › a voice thread is registered with its address, or that of its node, until it stops',
  CONSOLE: `${WHOLE} › CONSOLE false leaves the pages and their sign-in out, and the widget works`,
  CHAT_MODELS_ALLOWED:
    'api/plugins/allowedModels.integration.test.ts › %s %s refuses models that CHAT_MODELS_ALLOWED does not name',
  CORS_ORIGINS:
    'api/plugins/cors.integration.test.ts › allows no other origin, and none without configuration',
  DATA_DIR: 'cli/secrets.integration.test.ts › secrets reseal refuses a folder that a running service uses',
  ROLES: 'app/roles.integration.test.ts › a node with the role %s serves only its own routes',
  CALLWAY_ADMIN_TOKEN:
    'app/ingestion.integration.test.ts › a worker node ingests a document that another node received, from their shared bucket',
  SECRETS_KEY_PREVIOUS:
    'cli/secrets.integration.test.ts › secrets reseal changes the key of a shared database',
  DATABASE_URL: 'app/startup.integration.test.ts › callway migrate prepares the database for the nodes',
  REDIS_URL:
    'app/ingestion.integration.test.ts › a worker node ingests a document that another node received, from their shared bucket',
  DRACHTIO_URL: 'app/telephony.realtime.test.ts › A configured drachtio-server is used instead',
  SIP_PORT: 'app/telephony.realtime.test.ts › A port in use stops the start',
  MEDIA_TIMEOUT_SECONDS:
    'e2e/phone/carriers.realtime.test.ts › before it has sent any RTP: media timeout ends the call',
  RTP_PORT_MIN: 'app/roles.integration.test.ts › a node with %o has this call capacity',
  RTP_PORT_MAX: 'app/roles.integration.test.ts › a node with %o has this call capacity',
  MEDIA_WORKERS: 'app/roles.integration.test.ts › a node with %o has this call capacity',
  MAX_CALLS_PER_NODE: 'app/roles.integration.test.ts › a node with %o has this call capacity',
  STT_PROVIDER: 'app/voice.realtime.test.ts › The offline speech vendors hear and answer a caller at %i Hz',
  TTS_PROVIDER: 'app/voice.realtime.test.ts › The offline speech vendors hear and answer a caller at %i Hz',
  EMBEDDING_BASE_URL: 'app/ingestion.integration.test.ts › embeds each chunk once, with the selected model',
  EMBEDDING_API_KEY: 'app/ingestion.integration.test.ts › embeds each chunk once, with the selected model',
  RATE_LIMIT_PER_MINUTE:
    'api/plugins/rateLimits.integration.test.ts › are limited to five per minute over two nodes',
  RATE_LIMIT_PROJECT_PER_MINUTE:
    'api/plugins/rateLimits.integration.test.ts › share the limit of their project, which other projects do not',
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE:
    'api/plugins/rateLimits.integration.test.ts › are limited to five per minute, and refuse no good key of the address',
  ALLOW_PRIVATE_TRUNKS:
    'app/privateTrunks.integration.test.ts › A name that leads to a private address is never contacted, and looks like any other failure',
  ALLOW_INSECURE_WEBHOOKS:
    'api/routes/agent/agent.integration.test.ts › can be http loopback addresses with ALLOW_INSECURE_WEBHOOKS, but no other private ones',
  HOST: `${WHOLE} › HOST is the address of the HTTP server`,
  PUBLIC_URL: `${WHOLE} › PUBLIC_URL is the address in links`,
  TRUST_PROXY: `${WHOLE} › TRUST_PROXY counts failures by the address that the proxy names`,
  LEGACY_SUNSET: `${WHOLE} › LEGACY_SUNSET ends the legacy routes`,
  NUMBER_OWNERSHIP: `${WHOLE} › NUMBER_OWNERSHIP verified makes each claim pending, on an installation of one project too`,
  AUDIOSOCKET_PORT: `${WHOLE} › AUDIOSOCKET_PORT takes the streams of Asterisk, and closes one without a known UUID`,
  METRICS_PORT: `${WHOLE} › METRICS_PORT has the metrics, and the API has them no longer`,
  FINALIZE_TIMEOUT_SECONDS: `${WHOLE} › FINALIZE_TIMEOUT_SECONDS is what session.finalized waits at most`,
  EMBEDDING_PROVIDER: `${WHOLE} › EMBEDDING_PROVIDER local embeds documents here, although an endpoint is configured`,
  LOG_LEVEL: `${BUILT} › LOG_LEVEL is the lowest level that is written`,
  SIP_HOST: `${BUILT} › Settings of the SIP server reach it`,
  SIP_TLS_PORT: `${BUILT} › Settings of the SIP server reach it`,
  SIP_TLS_CERT_FILE: `${BUILT} › Settings of the SIP server reach it`,
  SIP_TLS_KEY_FILE: `${BUILT} › Settings of the SIP server reach it`,
  SIP_TLS_CA_FILE: `${BUILT} › Settings of the SIP server reach it`,
  SIP_TLS_VERIFY: `${BUILT} › Settings of the SIP server reach it`,
  PUBLIC_IP: `${BUILT} › Settings of the SIP server reach it`,
  VOICE_THREADS: `${BUILT} › VOICE_THREADS limits the voice threads; the offline recognizer has one`,
  OVERLOAD_EVENT_LOOP_MS:
    'e2e/phone/overload.realtime.test.ts › refuses new calls, keeps the quality of those in progress, and takes calls again afterwards',
  OVERLOAD_RTP_MS: `${BUILT} › begins with packets that are later than OVERLOAD_RTP_MS`,
  OVERLOAD_QUEUE_MS: `${BUILT} › of the queue begins with calls that wait for longer than OVERLOAD_QUEUE_MS`,
  OPENAI_API_KEY: `${BUILT} › name the endpoint, its key and the models`,
  OPENAI_BASE_URL: `${BUILT} › name the endpoint, its key and the models`,
  CHAT_MODEL_SMART: `${BUILT} › name the endpoint, its key and the models`,
  CHAT_MODEL_BALANCE: `${BUILT} › name the endpoint, its key and the models`,
  CHAT_MODEL_TURBO: `${BUILT} › name the endpoint, its key and the models`,
  CHAT_PROVIDER: `${BUILT} › CHAT_PROVIDER wins over an endpoint`,
  MODEL_TIMEOUT_SECONDS: `${BUILT} › MODEL_TIMEOUT_SECONDS ends the wait for the first token`,
  VOICE_ACTIVITY: `${BUILT} › VOICE_ACTIVITY neural takes no passing car for speech`,
  STT_API_KEY: `${BUILT} › STT_ and TTS_BASE_URL name servers like OpenAI’s for speech alone, with the key of %j`,
  STT_BASE_URL: `${BUILT} › STT_ and TTS_BASE_URL name servers like OpenAI’s for speech alone, with the key of %j`,
  TTS_API_KEY: `${BUILT} › STT_ and TTS_BASE_URL name servers like OpenAI’s for speech alone, with the key of %j`,
  TTS_BASE_URL: `${BUILT} › STT_ and TTS_BASE_URL name servers like OpenAI’s for speech alone, with the key of %j`,
  STT_MODEL: HEARS,
  ...credentialRows('custom_stt', HEARS),
  ...credentialRows('custom_tts', SPEAKS),
  ...vendorRows,
  ANTHROPIC_API_KEY: 'app/settings/effects.test.ts › give an endpoint its key and its address: %j',
  ANTHROPIC_BASE_URL: 'app/settings/effects.test.ts › give an endpoint its key and its address: %j',
  GOOGLE_API_KEY: 'app/settings/effects.test.ts › give an endpoint its key and its address: %j',
  GOOGLE_BASE_URL: 'app/settings/effects.test.ts › give an endpoint its key and its address: %j',
  TTS_MODEL: SPEAKS,
  TTS_VOICE: SPEAKS,
  CUSTOM_S2S_API_KEY: `${BUILT} › CUSTOM_S2S settings name the server, and its key`,
  CUSTOM_S2S_BASE_URL: `${BUILT} › CUSTOM_S2S settings name the server, and its key`,
  OTEL_EXPORTER_OTLP_ENDPOINT: `${BUILT} › OpenTelemetry settings name the collector, its headers, the service and the ratio`,
  OTEL_EXPORTER_OTLP_HEADERS: `${BUILT} › OpenTelemetry settings name the collector, its headers, the service and the ratio`,
  OTEL_SERVICE_NAME: `${BUILT} › OpenTelemetry settings name the collector, its headers, the service and the ratio`,
  OTEL_TRACES_SAMPLER_ARG: `${BUILT} › OpenTelemetry settings name the collector, its headers, the service and the ratio`,
  S3_BUCKET: `${BUILT} › S3 settings name the store, the bucket, the region and the keys`,
  S3_REGION: `${BUILT} › S3 settings name the store, the bucket, the region and the keys`,
  S3_ENDPOINT: `${BUILT} › S3 settings name the store, the bucket, the region and the keys`,
  S3_ACCESS_KEY_ID: `${BUILT} › S3 settings name the store, the bucket, the region and the keys`,
  S3_SECRET_ACCESS_KEY: `${BUILT} › S3 settings name the store, the bucket, the region and the keys`,
  S3_FORCE_PATH_STYLE: `${BUILT} › S3 settings name the store, the bucket, the region and the keys`,
  AUDIT_RETENTION_DAYS: `${BUILT} › AUDIT_RETENTION_DAYS is the age from which audit entries are removed`,
  DRAIN_SECONDS:
    'e2e/phone/voiceThreads.realtime.test.ts › are drained for DRAIN_SECONDS; a call that goes on is hung up then',
  SECRETS_KEY: 'cli/secrets.integration.test.ts › secrets reseal changes the key of a shared database',
  MAX_UPLOAD_BYTES: {
    test: 'api/routes/knowledge/datasets.integration.test.ts › that is too large is 413 and leaves no file',
    as: '200_001',
  },
  MAX_IMPORT_BYTES:
    'api/routes/campaigns/imports.integration.test.ts › A file of more than MAX_IMPORT_BYTES is 413, and none of it is read',
};
