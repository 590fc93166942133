import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** The port on which a drachtio-server takes its applications. */
const DEFAULT_PORT = 9022;
const TIMEOUT_MILLISECONDS = 3_000;
/** An answer to `authenticate` is a few addresses long. */
const LONGEST_ANSWER_BYTES = 16_384;

/** How a drachtio-server took the secret. */
export type ProbeResult =
  | {
      readonly accepted: true;
      /** As in `v0.9.9`. */
      readonly version: string;
      /** Where it takes SIP: `udp/192.0.2.1:5060`. */
      readonly endpoints: readonly string[];
    }
  | { readonly accepted: false; readonly reason: string };

/**
 * Authenticates as an application would, and leaves again. A frame is its length in bytes, `#`, and so many bytes of
 * fields between bars.
 *
 * @param url - `drachtio://:secret@host:9022`
 * @throws {Error} When nothing answers there, or what answers is no drachtio-server.
 */
export async function probeDrachtio(url: string): Promise<ProbeResult> {
  const { hostname, port, password } = new URL(url);
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? DEFAULT_PORT : Number(port),
  });
  try {
    const id = randomUUID();
    const request = `${id}|authenticate|${decodeURIComponent(password)}|`;
    socket.write(`${Buffer.byteLength(request)}#${request}`);
    return readAnswer(await firstFrame(socket), id);
  } finally {
    socket.destroy();
  }
}

function firstFrame(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    socket.setTimeout(TIMEOUT_MILLISECONDS, () => reject(new Error('no answer in time')));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed without an answer')));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const frame = frameOf(received);
      if (frame !== undefined) resolve(frame);
      else if (
        received.length > LONGEST_ANSWER_BYTES ||
        !/^\d{1,5}(?:#|$)/.test(received.toString('latin1'))
      ) {
        reject(NOT_DRACHTIO());
      }
    });
  });
}

function frameOf(received: Buffer): string | undefined {
  const [, digits] = /^(\d{1,5})#/.exec(received.toString('latin1')) ?? [];
  if (digits === undefined) return undefined;
  const start = digits.length + 1;
  const end = start + Number(digits);
  return received.length < end ? undefined : received.toString('utf8', start, end);
}

function readAnswer(frame: string, id: string): ProbeResult {
  const [, type, inReplyTo, outcome, ...rest] = frame.split('|');
  if (type !== 'response' || inReplyTo !== id) throw NOT_DRACHTIO();
  if (outcome !== 'OK') return { accepted: false, reason: rest[0] ?? '' };
  const [endpoints = '', version = ''] = rest;
  return { accepted: true, version, endpoints: endpoints.split(',').filter(Boolean) };
}

const NOT_DRACHTIO = () => new Error('what answers there is no drachtio-server');
