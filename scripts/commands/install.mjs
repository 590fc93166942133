import { ensureSystemParts, SIP_PEERS } from '../lib/systemParts.mjs';

/**
 * Installs the system packages for the tests, and no npm packages: run with `sudo`, which must not own node_modules.
 */
export async function run() {
  await ensureSystemParts(
    ['redis', 'postgres', 'pgvector', 'pocketsphinx', ...SIP_PEERS, 'promtool', 'chromium'],
    {
      purpose: 'This machine',
      instead: 'Run it as root on a system with apt.',
    },
  );
  console.log(
    'redis-server, Postgres, pgvector, pocketsphinx, SIPp, Kamailio, baresip, promtool and Chromium are installed.',
  );
}
