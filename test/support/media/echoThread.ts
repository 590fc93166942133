import { runMediaThread } from '../../../src/app/runMediaThread.ts';
import { CallwayError } from '../../../src/base/errors.ts';
import type { ConnectStream } from '../../../src/media/agentStream/streamClient.ts';

/** A media thread whose engine answers as the URL says: `echo:`, `refuse:`, or `crash:` and `stall:` for the thread. */
const connect: ConnectStream = async ({ target, sampleRateHz }, receiver) => {
  if (target.url === 'refuse:')
    throw new CallwayError('unavailable', 'engine_unavailable', 'the engine refuses');
  if (target.url === 'crash:') process.exit(3);
  if (target.url === 'throw:')
    setImmediate(() => {
      throw new Error('a defect');
    });
  if (target.url === 'stall:') for (;;);
  return {
    sampleRateHz,
    bufferedBytes: 0,
    sendAudio: (samples) => receiver.audio(samples.slice()),
    sendDtmf: (digit) => receiver.command({ kind: 'send_dtmf', digits: digit }),
    sendHold: () => {},
    sendTransfer: () => {},
    sendMark: () => {},
    sendCleared: () => {},
    close: async () => {},
  };
};

runMediaThread(connect);
