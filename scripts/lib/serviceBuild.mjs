import { bundle } from './bundle.mjs';
import { buildFrom, freshBuildOf } from './freshBuild.mjs';
import { root } from './paths.mjs';

/** Inputs of the build. */
const SOURCES = [
  ...['src', 'sip', 'offline', 'console/audio', 'console/widget'],
  ...['package-lock.json', 'tsconfig.json'],
];

/**
 * Folder of the build and how to compile into it; replaced in tests.
 *
 * @typedef {{ folder: string, compile: import('./freshBuild.mjs').Compile }} Place
 */

/** @type {Place} */
const OWN = { folder: root, compile: bundle };

/** @param {Place} place */
const planOf = ({ folder, compile }) => ({
  folder,
  compile,
  sources: SOURCES,
  entry: 'src/main.js',
});

/**
 * Path of the compiled service, compiled again when its sources have changed: a bundle starts much faster than a
 * loader that compiles each file.
 *
 * @param {Place} [place]
 * @returns {Promise<string | undefined>} Undefined when it cannot be compiled, without a compiler or after an error.
 */
export async function freshBuild(place = OWN) {
  return await freshBuildOf(planOf(place));
}

/**
 * Compiles the service and the SIP server into dist/.
 *
 * @param {Place} [place]
 */
export async function build(place = OWN) {
  return await buildFrom(planOf(place));
}
