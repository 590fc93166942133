import { constants } from 'node:os';
import { runMediaThread } from '../../../src/app/media/runMediaThread.ts';
import { CallwayError } from '../../../src/base/errors.ts';
import type { ConnectStream } from '../../../src/media/agentStream/streamClient.ts';
import { setThreadPriority } from '../../../src/media/engine/threadPriority.ts';
import { udpPacketIo } from '../../../src/media/transport/udpSocket.ts';

/** A media thread whose agent behaves as its URL says: `echo:`, `refuse:`, or, for the thread, `crash:`, `throw:` and `stall:`. */
const connect: ConnectStream = async ({ target, sampleRateHz }, handler) => {
  if (target.url === 'refuse:')
    throw new CallwayError('unavailable', 'engine_unavailable', 'the agent refuses');
  if (target.url === 'crash:') process.exit(3);
  if (target.url === 'throw:')
    setImmediate(() => {
      throw new Error('a defect');
    });
  if (target.url === 'stall:') for (;;);
  return {
    sampleRateHz,
    isBehind: false,
    toAgent: {
      audio: (samples) => handler.audio(samples.slice()),
      dtmf: (digit) => handler.command({ kind: 'send_dtmf', digits: digit }),
      mark: () => {},
    },
    close: async () => {},
  };
};

await runMediaThread({
  connectStream: connect,
  packetIo: udpPacketIo,
  raisePriority: () => setThreadPriority(constants.priority.PRIORITY_HIGH),
});
