import { readSources } from './docstrings.mjs';

/** The most uses of `Pick<`; a change that removes some lowers it. */
const MOST_PICKS = 150;
const MOST_MEMBERS = 12;

/**
 * Finds interfaces of dependencies with too many members, and too many parts of ports.
 *
 * @param {readonly string[]} folders - The folders of sources, relative to the root.
 * @returns {string[]} A line for each problem.
 */
export function findWideDependencies(folders) {
  const sources = readSources(folders);
  const picks = sources.reduce((count, { source }) => count + (source.match(/\bPick</g)?.length ?? 0), 0);
  const wide = sources.flatMap(({ file, source }) => wideIn(source).map((found) => `${file}:${found}`));
  return picks > MOST_PICKS ? [...wide, `${picks} uses of Pick<, more than ${MOST_PICKS}`] : wide;
}

/**
 * Finds interfaces named `…Deps` or `…Parts` with more than twelve members.
 *
 * @param {string} source - The text of a TypeScript file.
 * @returns {string[]} A line `line: name has n members` for each interface.
 */
export function wideIn(source) {
  const interfaces = source.matchAll(/^(?:export )?interface (\w*(?:Deps|Parts))\b[^{]*\{\n(.*?)^\}/gms);
  return [...interfaces].flatMap(({ index, 1: name = '', 2: body = '' }) => {
    const members = body.match(/^ {2}(?:readonly )?\w+\??[(:<]/gm)?.length ?? 0;
    if (members <= MOST_MEMBERS) return [];
    return [`${source.slice(0, index).split('\n').length}: ${name} has ${members} members`];
  });
}
