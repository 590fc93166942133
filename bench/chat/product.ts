import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../../src/app/gateway.ts';
import { reduceFullCollections } from '../../src/app/node/garbageCollection.ts';
import { loadConfig } from '../../src/app/settings/config.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { LARGE_MODEL, SMALL_MODEL } from './ruleModel.ts';

export const ADMIN_TOKEN = 'admin-token-of-the-benchmarks';
/** More than any measurement sends, so that the limit is counted and never reached. */
const RATE_LIMIT_PER_MINUTE = '100000000';

export interface Product {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * The whole product, or the roles that the environment names, on the database and Redis that it names, else embedded in a
 * folder of its own.
 */
export async function startProduct(upstreamUrl: string): Promise<Product> {
  reduceFullCollections();
  const folder = mkdtempSync(join(tmpdir(), 'callway-bench-'));
  const { DATABASE_URL = '', REDIS_URL = '', ROLES = '', REFUSES_OVERLOAD = '' } = process.env;
  const { STT_PROVIDER, TTS_PROVIDER, CUSTOM_STT_BASE_URL, CUSTOM_TTS_BASE_URL } = process.env;
  const config = loadConfig({
    PORT: '0',
    SIP_PORT: '0',
    DATA_DIR: folder,
    DATABASE_URL,
    REDIS_URL,
    ROLES,
    STT_PROVIDER,
    TTS_PROVIDER,
    CUSTOM_STT_BASE_URL,
    CUSTOM_TTS_BASE_URL,
    CALLWAY_ADMIN_TOKEN: ADMIN_TOKEN,
    SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    RATE_LIMIT_PER_MINUTE,
    // Most benchmarks show how late it is.
    ...(REFUSES_OVERLOAD === '' && {
      OVERLOAD_EVENT_LOOP_MS: '0',
      OVERLOAD_RTP_MS: '0',
      OVERLOAD_QUEUE_MS: '0',
    }),
    ALLOW_INSECURE_WEBHOOKS: 'true',
    OPENAI_BASE_URL: upstreamUrl,
    CHAT_MODEL_SMART: LARGE_MODEL,
    CHAT_MODEL_BALANCE: LARGE_MODEL,
    CHAT_MODEL_TURBO: SMALL_MODEL,
    LOG_LEVEL: 'info',
  });
  const gateway = await startGateway(config, createLogger('info'));
  return {
    url: gateway.url,
    async stop() {
      await gateway.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
