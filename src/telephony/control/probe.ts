import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { ControlTarget } from './connection.ts';

/** The answer of a drachtio-server to `authenticate`. */
export type ProbeResult =
  | {
      readonly accepted: true;
      /** The version, such as `v0.9.9`. */
      readonly version: string;
      /** The addresses at which the server listens for SIP, such as `udp/192.0.2.1:5060`. */
      readonly endpoints: readonly string[];
    }
  | { readonly accepted: false; readonly reason: string };

const DEFAULT_CONTROL_PORT = 9022;
const TIMEOUT_MS = 3_000;
const MAX_ANSWER_BYTES = 16_384;
const NOT_DRACHTIO = () => new Error('what answers there is no drachtio-server');

/** @param url - A URL such as `drachtio://:secret@host:9022`. */
export function parseControlUrl(url: string): ControlTarget {
  const { hostname, port, password } = new URL(url);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? DEFAULT_CONTROL_PORT : Number(port),
    secret: decodeURIComponent(password),
  };
}

/**
 * Authenticates at a drachtio-server and disconnects. A frame is its length in bytes, `#`, and that many bytes of fields
 * separated by `|`.
 *
 * @param url - A URL that `parseControlUrl` accepts.
 * @throws {Error} When there is no answer, or it does not come from a drachtio-server.
 */
export async function probeDrachtio(url: string): Promise<ProbeResult> {
  const { host, port, secret } = parseControlUrl(url);
  const socket = connect({ host, port });
  try {
    const id = randomUUID();
    const request = `${id}|authenticate|${secret}|`;
    socket.write(`${Buffer.byteLength(request)}#${request}`);
    return readAnswer(await firstFrame(socket), id);
  } finally {
    socket.destroy();
  }
}

function firstFrame(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    socket.setTimeout(TIMEOUT_MS, () => reject(new Error('no answer in time')));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed without an answer')));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const frame = frameOf(received);
      if (frame !== undefined) resolve(frame);
      else if (received.length > MAX_ANSWER_BYTES || !/^\d{1,5}(?:#|$)/.test(received.toString('latin1'))) {
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
  const [, type, inReplyTo, result, ...rest] = frame.split('|');
  if (type !== 'response' || inReplyTo !== id) throw NOT_DRACHTIO();
  if (result !== 'OK') return { accepted: false, reason: rest[0] ?? '' };
  const [endpoints = '', version = ''] = rest;
  return { accepted: true, version, endpoints: endpoints.split(',').filter(Boolean) };
}
