/** The SIP server alone in a process, for `bench/sip.ts`: reports its address, and its figures on request. */
import { type SipServerStats, startSipServer } from '../../sip/server.ts';

export type ServerReport = SipServerStats & { readonly heapBytes: number; readonly residentBytes: number };

const server = await startSipServer({
  port: 0,
  control: { port: 0, secret: 'bench' },
  trusted: ['127.0.0.1'],
});
process.on('message', async (asked: 'report' | 'close') => {
  if (asked === 'close') {
    await server.close();
    process.disconnect();
    return;
  }
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  process.send?.({ ...server.stats(), heapBytes: heapUsed, residentBytes: rss });
});
process.send?.({ sipPort: server.sipPorts[0]?.port, controlPort: server.controlPort });
