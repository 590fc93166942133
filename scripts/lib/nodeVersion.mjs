/** The oldest supported version of Node, as in `engines` of package.json. */
const MINIMUM_MAJOR = 20;
const MINIMUM_MINOR = 19;

/**
 * @param {string} version - As in `process.versions.node`: `20.19.0`.
 * @returns {string} The message for the user; empty when this Node is supported.
 */
export function tooOldMessage(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > MINIMUM_MAJOR || (major === MINIMUM_MAJOR && minor >= MINIMUM_MINOR)) return '';
  return `Callway requires Node ${MINIMUM_MAJOR}.${MINIMUM_MINOR} or later; this is v${version}. Install a current LTS release from https://nodejs.org and try again.`;
}
