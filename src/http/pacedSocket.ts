import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** The most that is parsed in one turn of the event loop, in a millisecond or two. */
const BYTES_PER_TURN = 16 * 1024;
/** Undici reads to the end of a piece when the headers are too long, with a new error for each further line. */
const PIECE_BYTES = 1024;

/** Undici's `buildConnector`, or one that adds to its options. */
export type BuildConnector = (options: buildConnector.BuildOptions) => buildConnector.connector;

/**
 * Creates a connector for servers that are not trusted. Undici parses at once whatever has arrived: megabytes of
 * informational responses or chunk extensions, which never count as a body, would hold up the thread. Its sockets give
 * 16 KiB in each turn of the event loop.
 */
export function pacedConnector(
  options: buildConnector.BuildOptions,
  build: BuildConnector = buildConnector,
): buildConnector.connector {
  const connect = build(options);
  return (target, callback) =>
    connect(target, (...result) => {
      const [, socket] = result;
      if (socket) paceReads(socket);
      callback(...result);
    });
}

function paceReads(socket: Socket): void {
  const read = socket.read.bind(socket);
  let leftBytes = BYTES_PER_TURN;
  const nextTurn = () => {
    leftBytes = BYTES_PER_TURN;
    socket.emit('readable');
  };
  socket.read = () => {
    if (leftBytes <= 0 || socket.destroyed) return null;
    const piece = socket.readableLength > PIECE_BYTES ? read(PIECE_BYTES) : read();
    if (piece === null) return null;
    if (leftBytes === BYTES_PER_TURN) setImmediate(nextTurn);
    leftBytes -= piece.length;
    return piece;
  };
}
