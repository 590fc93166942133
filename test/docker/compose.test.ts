import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

import { loadConfig } from '../../src/app/settings/config.ts';

interface Service {
  image: string;
  command: string[];
  environment: Record<string, string>;
  ports?: string[];
  volumes: string[];
}

const read = (path: string) => readFileSync(new URL(`../../docker/${path}`, import.meta.url), 'utf8');
const compose: { services: Record<string, Service> } = parse(read('compose.yaml'));
const monitoring: { services: Record<string, Service>; volumes: object } = parse(
  read('monitoring/compose.yaml'),
);
const service = (name: string): Service => {
  const found = compose.services[name] ?? monitoring.services[name];
  if (!found) throw new Error(`no service ${name}`);
  return found;
};

test('Callway connects to the SIP server’s control port with the shared secret', () => {
  const url = service('callway').environment.DRACHTIO_URL?.replace(/\$\{[^}]*\}/, 'secret');
  expect(loadConfig({ DRACHTIO_URL: url }).DRACHTIO_URL).toBe('drachtio://:secret@drachtio:9022');
  expect(read('drachtio/drachtio.conf.xml')).toMatch(/<admin port="9022">0\.0\.0\.0<\/admin>/);
  // Every process of the machine can read a command line.
  expect(service('drachtio').command.join(' ')).not.toContain('SECRET');
  expect(service('drachtio').environment.DRACHTIO_SECRET).toMatch(/^\$\{DRACHTIO_SECRET:\?/);
});

test('only the SIP server’s SIP ports are published, not its control port', () => {
  const published = Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
    ports.filter((port) => /5060|9022/.test(port)).map((port) => `${name} ${port}`),
  );
  expect(published).toEqual(['drachtio 5060:5060/tcp', 'drachtio 5060:5060/udp']);
});

test('no file contains a secret', () => {
  for (const file of ['compose.yaml', 'monitoring/compose.yaml', 'drachtio/drachtio.conf.xml'])
    expect(read(file)).not.toMatch(/(secret|password)["']?\s*[=:]\s*["']?[a-z0-9]+["'>\s]/i);
});

test('mounted files exist, relative to the folder where compose starts', () => {
  const mounted = ['drachtio', 'prometheus', 'alertmanager', 'grafana'].flatMap(
    (name) => service(name).volumes,
  );
  const files = mounted.map((volume) => volume.split(':')[0] ?? '').filter((path) => path.startsWith('./'));
  expect(files).toContain('./monitoring/alerts.yaml');
  for (const file of files.filter((path) => /\.\w+$/.test(path)))
    expect(read(file).length).toBeGreaterThan(0);
});

test('monitoring is reachable from this machine only', () => {
  for (const { ports = [] } of Object.values(monitoring.services))
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
});
