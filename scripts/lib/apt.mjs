import { ask, runCaptured } from './child.mjs';
import { root } from './paths.mjs';
import { Stop } from './stop.mjs';

/** dpkg's lock may be held by the machine's own updates. */
const LOCK_OPTIONS = ['-o', 'DPkg::Lock::Timeout=600'];

/** Fetches the package lists. @returns {Promise<void>} */
export async function aptUpdate() {
  await aptGet(['update']);
}

/**
 * @param {string[]} packages
 * @returns {Promise<void>}
 */
export async function aptInstall(packages) {
  await aptGet([...LOCK_OPTIONS, 'install', '-y', '--no-install-recommends', ...packages]);
}

/**
 * The version that an installation would bring.
 *
 * @param {string} name
 * @returns {string} Empty when apt knows no such package.
 */
export function aptCandidate(name) {
  const candidate = /^\s*Candidate: (.+)$/m.exec(ask('apt-cache', ['policy', name]))?.[1] ?? '';
  return candidate === '(none)' ? '' : candidate;
}

/**
 * Runs apt-get without questions; what it says is shown only when it fails. No service is started: the tests start
 * their own servers, and Kamailio's would take the SIP port.
 *
 * @param {string[]} args
 * @param {string} [cwd] - Where downloads go.
 * @returns {Promise<void>}
 * @throws {Stop} When apt-get fails.
 */
export async function aptGet(args, cwd = root) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', SYSTEMD_OFFLINE: '1' };
  const { ok, output } = await runCaptured('apt-get', ['-qq', ...args], { cwd, env });
  if (!ok) throw new Stop(`${output}apt-get ${args.join(' ')} failed; the lines above tell why.`);
}
