import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '../chat/servers.ts';
import { STREAMS } from './streams.ts';

const WARMING_MS = 5000;
const MEASURED_MS = 9000;

/** CPU time that a call's streaming recognition and synthesis take, in percent of a core: in a process without anything else. */
export async function measureStreams(program: string): Promise<number> {
  const vendors = await startServer('speechVendors', { program });
  const streams = await startServer('speechStreams', { program, upstreamUrl: vendors.url });
  try {
    await sleep(WARMING_MS);
    const [beforeMs, before] = [performance.now(), await streams.cpuMicroseconds()];
    await sleep(MEASURED_MS);
    const used = (await streams.cpuMicroseconds()) - before;
    return used / 10 / (performance.now() - beforeMs) / STREAMS;
  } finally {
    await streams.close();
    await vendors.close();
  }
}
