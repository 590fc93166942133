import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { FromWorker, ToWorker } from './embed.ts';
import type { SipServerOptions } from './options.ts';
import { createRefusalBatches } from './refusals.ts';
import { startSipServer } from './server.ts';
import { createTracer } from './trace.ts';

/** The worker thread of `embed.ts`. */
async function run(): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error('this file runs in a worker thread only');
  const post = (message: FromWorker): void => port.postMessage(message);
  const tracer = createTracer((entries) => post({ type: 'trace', entries }));
  const refusals = createRefusalBatches((refused) => post({ type: 'refused', refused }));
  let obey: ((message: ToWorker) => Promise<void>) | undefined;
  try {
    const server = await startSipServer(workerData as SipServerOptions, {
      onMessage: tracer.onMessage,
      onRefused: refusals.observe,
      // A call is followed before the command that sends its first message, but a busy thread may read the command first.
      onCommand() {
        for (let told = receiveMessageOnPort(port); told; told = receiveMessageOnPort(port)) {
          void obey?.(told.message);
        }
      },
    });
    obey = async (message) => {
      if (message.type === 'follow') tracer.follow(message.callId);
      else if (message.type === 'unfollow') tracer.unfollow(message.callId);
      else if (message.type === 'set_known_peers') server.setKnownPeers(message.peers);
      else if (message.type === 'stats') post({ type: 'stats', id: message.id, stats: server.stats() });
      else {
        await server.close();
        tracer.close();
        refusals.close();
        post({ type: 'closed' });
        port.close();
      }
    };
    port.on('message', obey);
    post({ type: 'started', sipPorts: server.sipPorts, controlPort: server.controlPort });
  } catch (error) {
    post({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
    port.close();
  }
}

await run();
