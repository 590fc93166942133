import type { FieldTable } from './fieldTable.ts';

/** Settings with a test that sets them and sees their effect. The others are at least read by the program. */
export const SETTINGS_ROWS: FieldTable['rows'] = {
  PORT: 'app/startup.integration.test.ts › A node is alive and not ready while the database is migrated',
  NODE_URL:
    'app/roles.integration.test.ts › a voice thread is registered with its address, or that of its node, until it stops',
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
    'app/privateTrunks.integration.test.ts › A name or a spelling that leads to a private address is never contacted, and looks like any other failure',
  ALLOW_INSECURE_WEBHOOKS:
    'api/routes/agent/agent.integration.test.ts › can be http loopback addresses with ALLOW_INSECURE_WEBHOOKS, but no other private ones',
};
