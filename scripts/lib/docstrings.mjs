import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.mjs';

/** Matches a docstring, or the text of a tag in it, whose first word refers to something outside of it. */
const FRAGMENT = /(?:\/\*\*|@(?:param|property) \S+ -|@returns)[\s*]+((?:Of|That|Whose|As)\b.*)/g;

/**
 * Finds docstrings that are fragments of sentences.
 *
 * @param {readonly string[]} folders - The folders of sources, relative to the root.
 * @returns {string[]} A line `file:line: text` for each fragment.
 */
export function findFragments(folders) {
  return readSources(folders).flatMap(({ file, source }) =>
    fragmentsOf(source).map((found) => `${file}:${found}`),
  );
}

/**
 * Reads all sources of some folders.
 *
 * @param {readonly string[]} folders - The folders, relative to the root.
 * @returns {{ file: string, source: string }[]} The path from the root and the text of each TypeScript file.
 */
export function readSources(folders) {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((path) => `${folder}/${path}`),
    )
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file, source: readFileSync(join(root, file), 'utf8') }));
}

/**
 * Finds the fragments in a source.
 *
 * @param {string} source - The text of a TypeScript file.
 * @returns {string[]} A line `line: text` for each fragment.
 */
export function fragmentsOf(source) {
  return [...source.matchAll(FRAGMENT)].map(
    ({ index, 1: text = '' }) =>
      `${source.slice(0, index).split('\n').length}: ${text.replace('*/', '').trim()}`,
  );
}
