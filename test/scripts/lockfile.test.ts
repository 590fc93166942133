import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Package {
  optionalDependencies?: Record<string, string>;
}

const { packages }: { packages: Record<string, Package> } = JSON.parse(
  readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
);

/** `npm ci` refuses a lock that leaves out what is for other platforms than the one it was written on. */
test('the lock has the packages of every platform', () => {
  const wanted = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).map((name) => ({ path, name })),
  );
  expect(wanted.length).toBeGreaterThan(0);
  const missing = wanted.filter(
    ({ path, name }) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`],
  );
  expect(missing).toEqual([]);
});
