import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Config, loadConfig } from '../app/settings/config.ts';
import { DemoError } from './demoError.ts';
import type { DemoOptions } from './options.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Free ports, separate from a service on this machine, and a quick shutdown. */
const ALWAYS = {
  HOST: '127.0.0.1',
  PORT: '0',
  SIP_PORT: '0',
  MEDIA_WORKERS: '1',
  ALLOW_INSECURE_WEBHOOKS: 'true',
  DRAIN_SECONDS: '2',
  FINALIZE_TIMEOUT_SECONDS: '30',
};
const OFFLINE = {
  CHAT_PROVIDER: 'local',
  STT_PROVIDER: 'local',
  TTS_PROVIDER: 'local',
  EMBEDDING_PROVIDER: 'local',
};
/** Settings of the user for models and the route to a trunk. */
const OF_MODELS = [
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'CHAT_MODEL_SMART',
  'CHAT_MODEL_BALANCE',
  'CHAT_MODEL_TURBO',
  'MODEL_TIMEOUT_SECONDS',
  'STT_MODEL',
  'TTS_MODEL',
  'TTS_VOICE',
];
const OF_TRUNKS = ['SIP_HOST', 'PUBLIC_IP', 'SIP_TLS_CA_FILE', 'SIP_TLS_VERIFY'];

/**
 * The settings of the demo's service: defaults, except what a real trunk or real models need.
 *
 * @throws {ConfigurationError} When a setting of the user is invalid.
 * @throws {DemoError} When there is no route to the trunk.
 */
export async function demoConfig(
  { useOpenAi, call }: Pick<DemoOptions, 'useOpenAi' | 'call'>,
  environment: Environment,
  service: { readonly folder: string; readonly adminToken: string; readonly vendorsUrl?: string | undefined },
): Promise<Config> {
  const taken = [...(useOpenAi ? OF_MODELS : []), ...(call ? OF_TRUNKS : [])];
  const given = Object.fromEntries(taken.map((name) => [name, environment[name]]));
  return loadConfig({
    ...(useOpenAi ? {} : OFFLINE),
    ...(service.vendorsUrl === undefined ? {} : scriptedModels(service.vendorsUrl)),
    ...(call ? { SIP_HOST: await addressTowards(call.trunk.host, call.trunk.port) } : {}),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value?.trim())),
    ...ALWAYS,
    DATA_DIR: join(service.folder, 'data'),
    CALLWAY_ADMIN_TOKEN: service.adminToken,
  });
}

function scriptedModels(url: string): Record<string, string> {
  return {
    CHAT_PROVIDER: 'openai',
    OPENAI_BASE_URL: `${url}/v1`,
    STT_PROVIDER: 'custom',
    CUSTOM_STT_BASE_URL: url,
    TTS_PROVIDER: 'custom',
    CUSTOM_TTS_BASE_URL: url,
  };
}

/**
 * Finds this machine's address on the route to a host; sends nothing.
 *
 * @throws {DemoError} When there is no route to the host.
 */
async function addressTowards(host: string, port: number): Promise<string> {
  const bare = host.replace(/^\[|\]$/g, '');
  try {
    const { address, family } = await lookup(bare);
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
    try {
      const connected = once(socket, 'connect');
      socket.connect(port, address);
      await connected;
      return socket.address().address;
    } finally {
      socket.close();
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DemoError(`There is no route to the trunk ${host}: ${reason}.`, { cause });
  }
}
