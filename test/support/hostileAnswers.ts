import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { listenOnLoopback } from './loopbackServer.ts';

/** What a hostile server would send in all, where nothing stops it. */
const WHOLE_BYTES = 300 * 1024 * 1024;
const PIECE = Buffer.alloc(65_536, 'x');
const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), PIECE, Buffer.from('\r\n')]);

/** Bytes that are sent once, and then others without end. */
export interface HostileAnswer {
  readonly head: string;
  readonly piece: Buffer;
}

const head = (status: number, ...headers: string[]) =>
  [`HTTP/1.1 ${status} Hostile`, ...headers, '', ''].join('\r\n');
const CLOSES = 'connection: close';
const json = 'content-type: application/json';
const sse = 'content-type: text/event-stream';
/** Members of gzip may follow each other. */
const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'x'));

/** Errors: their status is to count. */
export const HOSTILE_ERRORS: Readonly<Record<string, () => HostileAnswer>> = {
  'in chunks': () => ({ head: head(500, json, 'transfer-encoding: chunked'), piece: CHUNK }),
  'without a length': () => ({ head: head(500, json, CLOSES), piece: PIECE }),
  'with its length': () => ({ head: head(500, json, `content-length: ${WHOLE_BYTES}`), piece: PIECE }),
  compressed: () => ({ head: head(500, json, CLOSES, 'content-encoding: gzip'), piece: BOMB }),
  'of a stream': () => ({ head: head(500, sse, CLOSES), piece: PIECE }),
};

/** Answers without an end. */
export const HOSTILE_ANSWERS: Readonly<Record<string, () => HostileAnswer>> = {
  'of a document': () => ({ head: `${head(200, json, CLOSES)}{"data":"`, piece: PIECE }),
  'of a compressed document': () => ({
    head: head(200, json, CLOSES, 'content-encoding: gzip'),
    piece: BOMB,
  }),
  'of no type': () => ({ head: head(200, CLOSES), piece: PIECE }),
  'of a header': () => ({ head: 'HTTP/1.1 200 OK\r\nx-endless: ', piece: PIECE }),
  'of headers': () => ({ head: 'HTTP/1.1 200 OK\r\n', piece: Buffer.from('x-more: 1\r\n'.repeat(5000)) }),
  'of an event': () => ({ head: `${head(200, sse, CLOSES)}data: `, piece: PIECE }),
  'of an event in lines': () => ({
    head: head(200, sse, CLOSES),
    piece: Buffer.from('data: x\n'.repeat(8192)),
  }),
};

export interface HostileServer {
  readonly port: number;
  /** To all connections. */
  sentBytes(): number;
  /** Connections so far, and those that are open. */
  connections(): number;
  open(): number;
  close(): Promise<void>;
}

/** Answers each connection's first bytes. */
export async function startHostileServer({ head: start, piece }: HostileAnswer): Promise<HostileServer> {
  let sentBytes = 0;
  const server = createServer((socket) => {
    socket.once('data', () => {
      let leftBytes = WHOLE_BYTES;
      socket.write(start, 'latin1');
      const pump = () => {
        while (leftBytes > 0 && !socket.destroyed) {
          leftBytes -= piece.length;
          sentBytes += piece.length;
          if (!socket.write(piece)) return;
        }
        if (leftBytes <= 0) socket.end();
      };
      socket.on('drain', pump);
      pump();
    });
  });
  const { port, connections, open, close } = await listenOnLoopback(server);
  return { port, sentBytes: () => sentBytes, connections, open, close };
}
