import { parentPort, workerData } from 'node:worker_threads';
import type { FromWorker, ToWorker } from './embed.ts';
import type { SipServerOptions } from './options.ts';
import { startSipServer } from './server.ts';
import { createTracer } from './trace.ts';

/** The worker thread of `embed.ts`. */
async function run(): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error('this file runs in a worker thread only');
  const tell = (message: FromWorker): void => port.postMessage(message);
  const tracer = createTracer((entries) => tell({ type: 'trace', entries }));
  try {
    const server = await startSipServer(workerData as SipServerOptions, { onMessage: tracer.onMessage });
    port.on('message', async (message: ToWorker) => {
      if (message.type === 'follow') tracer.follow(message.callId);
      else if (message.type === 'unfollow') tracer.unfollow(message.callId);
      else if (message.type === 'know') server.know(message.peers);
      else if (message.type === 'stats') tell({ type: 'stats', id: message.id, stats: server.stats() });
      else {
        await server.close();
        tracer.close();
        tell({ type: 'closed' });
        port.close();
      }
    });
    tell({ type: 'started', sipPorts: server.sipPorts, controlPort: server.controlPort });
  } catch (error) {
    tell({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
    port.close();
  }
}

await run();
