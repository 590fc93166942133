import { MessageChannel, type MessagePort } from 'node:worker_threads';

/** One end of a connection between two threads of this process. It crosses threads with its port transferred. */
export interface ThreadChannel {
  readonly port: MessagePort;
  /** Bytes of messages that this end has read, modulo 2^32; shared by both ends. */
  readonly readBytes: Int32Array;
  readonly peerReadBytes: Int32Array;
}

/** @returns Both ends. An end that is closed, or whose thread has died, closes the other. */
export function openThreadChannel(): [ThreadChannel, ThreadChannel] {
  const { port1, port2 } = new MessageChannel();
  const [first, second] = [counter(), counter()];
  return [
    { port: port1, readBytes: first, peerReadBytes: second },
    { port: port2, readBytes: second, peerReadBytes: first },
  ];
}

function counter(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}
