import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { aptPackages } from '../../scripts/lib/systemParts.mjs';
import { settings } from '../../src/app/settings/settings.ts';

interface Service {
  image: string;
  environment?: Record<string, string>;
  healthcheck?: unknown;
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
}

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

const composeText = read('docker/compose.yaml');
const compose: { services: Record<string, Service>; volumes: Record<string, unknown> } = parse(composeText);
const dockerfile = read('docker/Dockerfile');
const knownSettings = Object.keys(settings.shape);

function exampleNames(): string[] {
  return [...read('docker/.env.example').matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name = '']) => name);
}

test('compose sets only settings that exist', () => {
  const names = Object.keys(compose.services.callway?.environment ?? {});
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !knownSettings.includes(name))).toEqual([]);
});

test('every value that compose needs is in the example file, and is required with a message', () => {
  const asked = [...composeText.matchAll(/\$\{([^}]*)\}/g)].map(([, inner = '']) => inner);
  expect(asked.length).toBeGreaterThan(0);
  for (const inner of asked) {
    expect(inner).toMatch(/^[A-Z_]+:\?.*set it in docker\/\.env/);
    expect(exampleNames()).toContain(inner.split(':?')[0]);
  }
});

test('the example file has settings of Callway and of its other services, without values', () => {
  const ofOthers = [
    'POSTGRES_PASSWORD',
    'REDIS_PASSWORD',
    'DRACHTIO_SECRET',
    'GRAFANA_PASSWORD',
    'ALERT_WEBHOOK_URL',
  ];
  expect(exampleNames().filter((name) => ![...knownSettings, ...ofOthers].includes(name))).toEqual([]);
  expect(read('docker/.env.example')).not.toMatch(/^[A-Z_]+=./m);
});

test('the stores are not published, and the API only on this machine', () => {
  expect(compose.services.postgres?.ports).toBeUndefined();
  expect(compose.services.redis?.ports).toBeUndefined();
  expect(compose.services.callway?.ports?.filter((port) => port.endsWith(':3000'))).toEqual([
    '127.0.0.1:3000:3000',
  ]);
});

test('the published UDP ports are the RTP ports', () => {
  const { RTP_PORT_MIN: first, RTP_PORT_MAX: last } = compose.services.callway?.environment ?? {};
  expect(compose.services.callway?.ports).toContain(`${first}-${last}:${first}-${last}/udp`);
});

test('the image recognizes speech without any endpoint', () => {
  const lastStage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  expect(lastStage).toContain(`--no-install-recommends ${aptPackages(['pocketsphinx'], 16).join(' ')}`);
});

test('the build context has everything that the image copies', () => {
  const allowed = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path = '']) => path);
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, paths = '']) =>
    paths.split(' ').slice(0, -1),
  );
  expect(copied.length).toBeGreaterThan(0);
  expect(copied.filter((path) => !allowed.some((one) => path === one || path.startsWith(`${one}/`)))).toEqual(
    [],
  );
});

test('the healthcheck exits with 0 only when the service is healthy', async () => {
  const command = /HEALTHCHECK [^[]*CMD (\[.*\])$/m.exec(dockerfile)?.[1];
  const [program, flag, code] = JSON.parse(command ?? '[]');
  expect([program, flag]).toEqual(['node', '-e']);

  let status = 200;
  const server = createServer((_, response) => response.writeHead(status).end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = String(Object(server.address()).port);
  const exitCode = async () => {
    const [result] = await once(spawn(process.execPath, ['-e', code], { env: { PORT: port } }), 'exit');
    return result;
  };

  expect(await exitCode()).toBe(0);
  status = 503;
  expect(await exitCode()).toBe(1);
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  expect(await exitCode()).toBe(1);
});
