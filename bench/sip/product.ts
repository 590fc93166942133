/** The whole product in a process of its own, for `bench/sip.ts`: answers one number and connects it to a bot. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { startGateway } from '../../src/app/gateway.ts';
import { loadConfig } from '../../src/app/settings/config.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { ADMIN_TOKEN } from '../chat/product.ts';
import { createProject, ONE_STEP } from '../chat/project.ts';

const [sipPort = '', databaseUrl = '', redisUrl = '', number = ''] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'callway-bench-'));
// A silent bot: only the time to the answer is measured.
const bot = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
await once(bot, 'listening');

const config = loadConfig({
  PORT: '0',
  SIP_PORT: sipPort,
  DATA_DIR: folder,
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  CALLWAY_ADMIN_TOKEN: ADMIN_TOKEN,
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  ALLOW_INSECURE_WEBHOOKS: 'true',
  MAX_CALLS_PER_NODE: '1000',
  LOG_LEVEL: 'error',
});
const gateway = await startGateway(config, createLogger('error'));
const project = await createProject(gateway.url, { status: 'published' }, ONE_STEP);
const trunk = (await project.call('POST', '/trunks', {
  name: 'Bench',
  host: '127.0.0.1',
  port: 5999,
  optionsIntervalSeconds: 0,
  maxChannels: 1000,
  callsPerSecond: 1000,
  inboundCidrs: ['127.0.0.1/32'],
})) as { id: string };
await project.call('POST', '/phone-numbers', {
  number,
  trunkIds: [trunk.id],
  inboundEnabled: true,
  media: { url: `ws://127.0.0.1:${(bot.address() as AddressInfo).port}/`, dialect: 'twilio' },
});
process.on('message', async () => {
  await gateway.stop();
  bot.close();
  rmSync(folder, { recursive: true, force: true });
  process.disconnect();
});
process.send?.('ready');
