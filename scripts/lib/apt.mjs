import { ask, runCaptured } from './child.mjs';
import { root } from './paths.mjs';
import { Stop } from './stop.mjs';

/** Automatic updates may hold dpkg's lock. */
const LOCK_OPTIONS = ['-o', 'DPkg::Lock::Timeout=600'];

/** Updates the package lists. @returns {Promise<void>} */
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
 * The version that apt would install.
 *
 * @param {string} name
 * @returns {string} Empty for an unknown package.
 */
export function aptCandidate(name) {
  const candidate = /^\s*Candidate: (.+)$/m.exec(ask('apt-cache', ['policy', name]))?.[1] ?? '';
  return candidate === '(none)' ? '' : candidate;
}

/**
 * Runs apt-get without questions; prints its output only on a failure. Starts no service: the tests start their own
 * servers, and Kamailio's service would use the SIP port.
 *
 * @param {string[]} args
 * @param {string} [cwd] - For downloads.
 * @returns {Promise<void>}
 * @throws {Stop} When apt-get fails.
 */
export async function aptGet(args, cwd = root) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', SYSTEMD_OFFLINE: '1' };
  const { ok, output } = await runCaptured('apt-get', ['-qq', ...args], { cwd, env });
  if (!ok) throw new Stop(`${output}apt-get ${args.join(' ')} failed; see the lines above.`);
}
