import { type Finding, fail, ok } from './finding.ts';

/**
 * @param version - The version, as in `process.versions.node`.
 * @param range - `engines.node` of package.json: `>=20.19.0`.
 */
export function checkNode(version: string, range: string): Finding {
  const minimum = range.replace(/^>=/, '');
  return compare(version, minimum) >= 0
    ? ok('Node', `v${version}`)
    : fail('Node', `v${version} is older than ${minimum}`, 'Install a current LTS release of Node.');
}

/** Compares versions by their numbers. @returns Negative, 0 or positive, as for `Array.sort`. */
export function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map((part) => Number.parseInt(part, 10)));
  const differing = [0, 1, 2].map((place) => (left?.[place] ?? 0) - (right?.[place] ?? 0));
  return differing.find((difference) => difference !== 0) ?? 0;
}
