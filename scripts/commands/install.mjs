import { ensureSystemParts, SIP_PEERS } from '../lib/systemParts.mjs';

/**
 * Installs the system packages that the tests need, and no npm packages: for `sudo`, which should not own node_modules.
 */
export async function run() {
  await ensureSystemParts(['redis', 'postgres', 'pgvector', 'pocketsphinx', ...SIP_PEERS], {
    purpose: 'This machine',
    instead: 'Run it as root on a system with apt to have that done.',
  });
  console.log('redis-server, Postgres, pgvector, pocketsphinx, SIPp, Kamailio and baresip are installed.');
}
