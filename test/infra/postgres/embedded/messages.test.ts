import { expect, test } from 'vitest';

import {
  encodeInt32,
  encodeMessage,
  encodeString,
  MessageReader,
  transactionStatus,
} from '../../../../src/infra/postgres/embedded/messages.ts';

const STARTUP = Buffer.from([
  ...[0, 0, 0, 13], // length with itself
  ...[0, 3, 0, 0], // version 3.0
  ...[...Buffer.from('user'), 0], // parameters
]);
const QUERY = Buffer.from([
  0x51, // Q
  ...[0, 0, 0, 13],
  ...[...Buffer.from('SELECT 1'), 0],
]);
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);

test.each([
  ['in one piece', 1_000],
  ['in pieces of 3 bytes', 3],
  ['byte by byte', 1],
])('Messages that arrive %s are read one by one', (_, pieceBytes) => {
  const reader = new MessageReader();
  const all = Buffer.concat([STARTUP, QUERY, SYNC, QUERY]);
  const read: Buffer[] = [];
  for (let from = 0; from < all.length; from += pieceBytes) {
    reader.push(all.subarray(from, from + pieceBytes));
    const next = () => reader.next(read.length === 0 ? 0 : 1, 100);
    for (let message = next(); message; message = next()) read.push(Buffer.from(message));
  }
  expect(read).toEqual([STARTUP, QUERY, SYNC, QUERY]);
});

test.each([
  ['negative', -1],
  ['shorter than itself', 3],
  ['above the maximum', 101],
])('A length that is %s is an error before the message has arrived', (_, length) => {
  const reader = new MessageReader();
  reader.push(Buffer.concat([Buffer.from('Q'), encodeInt32(length)]));
  expect(() => reader.next(1, 100)).toThrow(RangeError);
});

test('Messages are encoded with their length', () => {
  expect(encodeMessage('Q', encodeString('SELECT 1'))).toEqual(QUERY);
  expect(encodeMessage('S')).toEqual(SYNC);
});

test.each([
  ['I', 'idle'],
  ['T', 'in transaction'],
  ['E', 'failed'],
])('An answer that ends in ReadyForQuery %s leaves the session %s', (status, expected) => {
  const complete = encodeMessage('C', encodeString('SELECT 1'));
  const ready = encodeMessage('Z', Buffer.from(status));
  expect(transactionStatus(Buffer.concat([complete, ready]))).toBe(expected);
});

test.each([
  ['nothing', ''],
  ['another message', 'SELECT 1'],
  ['an unknown status', 'Z\0\0\0\x05?'],
])('An answer that ends in %s is an error', (_, answer) => {
  expect(() => transactionStatus(Buffer.from(answer, 'latin1'))).toThrow('without its status');
});
