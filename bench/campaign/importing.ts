import { readFileSync } from 'node:fs';

import { type Installation, numberOf, startCampaign, startInstallation } from './installation.ts';
import type { Line } from './report.ts';

const POLL_MS = 200;
const MIB = 1_048_576;

/** The time of an import of a CSV file, what the process then has more, and how long its project takes to remove. */
export async function measureImport(rows: number): Promise<Line[]> {
  const installation = await startInstallation({ nodes: 1, reactionOf: () => 'busy' });
  const { importCsv, cluster, deleteProject } = installation;
  try {
    const id = await startCampaign(installation, {}, []);
    const lines = Array.from({ length: rows }, (_, n) => `${numberOf(n)},Person ${n},Taipei\n`);
    const csv = new Blob(['Phone,Name,City\n', ...lines]);
    const before = memoryOf(cluster);
    let most = before;
    const poll = setInterval(() => {
      most = Math.max(most, memoryOf(cluster));
    }, POLL_MS);
    const startMs = performance.now();
    const { accepted } = await importCsv(`/campaigns/${id}/contacts`, csv, { toNumber: 'Phone' });
    const seconds = (performance.now() - startMs) / 1_000;
    clearInterval(poll);
    const more = (most - before) / MIB;
    const removedMs = await deleteProject();
    return [
      {
        what: `import of ${rows} rows (CSV)`,
        aim: '90 s, 200 MB more',
        figure: `${seconds.toFixed(0)} s, ${more.toFixed(0)} MB more; ${accepted} accepted`,
      },
      {
        what: `deletion of a project with ${rows} contacts`,
        aim: 'fast',
        figure: `${(removedMs / 1_000).toFixed(1)} s`,
      },
    ];
  } finally {
    await installation.close();
  }
}

/** Resident memory of the first node's process. */
function memoryOf({ nodes: [node] }: Installation['cluster']): number {
  const status = readFileSync(`/proc/${node?.process.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024;
}
