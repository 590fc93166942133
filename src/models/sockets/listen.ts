import type { WebSocket } from 'ws';
import { countMarks, limitMessages } from '../../base/async/messageLimit.ts';
import type { Clock } from '../../base/values/clock.ts';
import { ModelError } from '../ports/modelError.ts';
import { closedBy, type IsRefusal, malformed } from './failures.ts';

/** JSON values of one message: two thousand words with their times. */
const MAX_VALUES = 20_000;

export interface VendorListener {
  /** The name in errors. */
  readonly name: string;
  readonly clock: Clock;
  /** Interprets close codes. Default: as for most vendors. */
  readonly isRefusal?: IsRefusal | undefined;
  readonly onMessage: (data: Buffer, isBinary: boolean) => void;
  /** Receives the failure. It may be called again after the first one. */
  readonly onFailed: (error: unknown) => void;
}

/** Listens to a vendor's socket, which is closed when it floods: one thread serves many calls. */
export function listenTo(
  socket: WebSocket,
  { name, clock, isRefusal, onMessage, onFailed }: VendorListener,
): void {
  const admit = limitMessages(clock, 'vendor');
  const refuse = (problem: string) => {
    onFailed(new ModelError('model_malformed', `${name} ${problem}`, { retryable: false }));
    socket.terminate();
  };
  const refuseFlood = () => refuse('sends messages faster than a call has them');
  socket.on('message', (data, isBinary) => {
    const bytes = data as Buffer;
    if (!admit(bytes, isBinary)) refuseFlood();
    else if (!isBinary && countMarks(bytes) > MAX_VALUES) refuse('sent a message with too many values');
    else onMessage(bytes, isBinary);
  });
  // Each ping is answered, and the answers wait in memory for a vendor that does not read them.
  const onControlFrame = (data: Buffer) => {
    if (!admit(data, true)) refuseFlood();
  };
  socket.on('ping', onControlFrame);
  socket.on('pong', onControlFrame);
  socket.on('error', (error) => onFailed(isUnreadable(error) ? malformed(name, error) : error));
  socket.on('close', (code, reason) => onFailed(closedBy(name, code, String(reason), isRefusal)));
}

/** The codes of `ws` for frames that it cannot read, such as one that is too long. */
function isUnreadable(error: Error): boolean {
  return 'code' in error && String(error.code).startsWith('WS_ERR_');
}
