import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createDnsLookup } from '../../src/http/lookup.ts';
import { detectLeaks } from '../support/leaks.ts';

const TYPE_A = 1;
const never = new AbortController().signal;
const servers: Socket[] = [];

let assertNoLeaks: () => Promise<void>;

beforeAll(() => {
  assertNoLeaks = detectLeaks();
});
afterAll(() => assertNoLeaks());

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

describe('createDnsLookup', () => {
  it('returns the addresses of both families, IPv4 first', async () => {
    const server = await nameServer((query, type) =>
      type === TYPE_A
        ? answer(query, [[192, 0, 2, 1]])
        : answer(query, [[0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 1]]),
    );
    await expect(createDnsLookup({ servers: [server] })('hook.test', never)).resolves.toEqual([
      '192.0.2.1',
      '2001:db8::1',
    ]);
  });

  it('accepts one family', async () => {
    const server = await nameServer((query, type) =>
      type === TYPE_A ? answer(query, [[192, 0, 2, 1]]) : failure(query, 2),
    );
    await expect(createDnsLookup({ servers: [server] })('hook.test', never)).resolves.toEqual(['192.0.2.1']);
  });

  it('rejects for a name that does not exist', async () => {
    const server = await nameServer((query) => failure(query, 3));
    await expect(createDnsLookup({ servers: [server] })('no.test', never)).rejects.toMatchObject({
      code: 'ENOTFOUND',
    });
  });

  it('stops when it is aborted', async () => {
    const controller = new AbortController();
    const server = await nameServer(() => {
      controller.abort();
      return undefined;
    });
    const pending = createDnsLookup({ servers: [server] })('hook.test', controller.signal);
    await expect(pending).rejects.toMatchObject({ code: 'ECANCELLED' });
  });

  it.each(['localhost', 'localhost.', 'a.localhost'])('resolves %s without DNS', async (name) => {
    const server = await nameServer(() => {
      throw new Error('asked');
    });
    await expect(createDnsLookup({ servers: [server] })(name, never)).resolves.toEqual(['127.0.0.1', '::1']);
  });
});

/** @returns `address:port` of a DNS server on loopback that responds with the result of `reply`. */
async function nameServer(reply: (query: Buffer, type: number) => Buffer | undefined): Promise<string> {
  const socket = createSocket('udp4');
  servers.push(socket);
  socket.on('message', (query, from) => {
    const response = reply(query, query.readUInt16BE(endOfQuestion(query) - 4));
    if (response) socket.send(response, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return `127.0.0.1:${(socket.address() as AddressInfo).port}`;
}

/** The question starts at byte 12: labels, a zero byte, two bytes of type, two of class (RFC 1035 section 4.1.2). */
function endOfQuestion(query: Buffer): number {
  return query.indexOf(0, 12) + 5;
}

function header(query: Buffer, responseCode: number, answers: number): Buffer {
  const bytes = Buffer.from([
    ...query.subarray(0, 2), // id
    0x81, // response, recursion desired
    0x80 | responseCode, // recursion available
    ...[0, 1], // questions
    ...[0, answers],
    ...[0, 0], // authorities
    ...[0, 0], // additional
  ]);
  return Buffer.concat([bytes, query.subarray(12, endOfQuestion(query))]);
}

function failure(query: Buffer, responseCode: number): Buffer {
  return header(query, responseCode, 0);
}

function answer(query: Buffer, addresses: number[][]): Buffer {
  const type = query.subarray(endOfQuestion(query) - 4, endOfQuestion(query) - 2);
  const records = addresses.map((address) =>
    Buffer.from([
      ...[0xc0, 12], // the question's name again
      ...type,
      ...[0, 1], // class IN
      ...[0, 0, 0, 60], // time to live in seconds
      ...[0, address.length],
      ...address,
    ]),
  );
  return Buffer.concat([header(query, 0, records.length), ...records]);
}
