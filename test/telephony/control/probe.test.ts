import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';

import { probeDrachtio } from '../../../src/telephony/control/probe.ts';
import { reservePort } from '../../support/ports.ts';

/** Receives one frame per connection and responds by `answer`. */
async function serverThat(answer: (fields: string[], socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', (data) => {
      const [, length, frame = ''] = /^(\d+)#(.*)$/s.exec(data.toString('utf8')) ?? [];
      expect(Buffer.byteLength(frame)).toBe(Number(length));
      answer(frame.split('|'), socket);
    });
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const frame = (...fields: string[]) => `${Buffer.byteLength(fields.join('|'))}#${fields.join('|')}`;

it('probeDrachtio sends the secret and reads the endpoints', async () => {
  let sent: string[] = [];
  const host = await serverThat((fields, socket) => {
    sent = fields;
    const answer = frame(
      '1',
      'response',
      fields[0] ?? '',
      'OK',
      'tcp/10.0.0.1:5060,udp/10.0.0.1:5060',
      'v0.9.9',
      'tcp/10.0.0.1:5060',
    );
    socket.write(answer.slice(0, 2));
    setTimeout(() => socket.write(answer.slice(2)), 5);
  });

  expect(await probeDrachtio(`drachtio://:c%C3%A9@${host}`)).toEqual({
    accepted: true,
    version: 'v0.9.9',
    endpoints: ['tcp/10.0.0.1:5060', 'udp/10.0.0.1:5060'],
  });
  expect(sent.slice(1)).toEqual(['authenticate', 'cé', '']);
});

it('probeDrachtio reports a refused secret', async () => {
  const host = await serverThat((fields, socket) => {
    socket.end(frame('1', 'response', fields[0] ?? '', 'NO', 'incorrect secret'));
  });

  expect(await probeDrachtio(`drachtio://:wrong@${host}`)).toEqual({
    accepted: false,
    reason: 'incorrect secret',
  });
});

it.each([
  { what: 'an HTTP server', answer: 'HTTP/1.1 400 Bad Request\r\n\r\n' },
  { what: 'a frame without end', answer: `99999#${'x'.repeat(20_000)}` },
  { what: 'an answer to another request', answer: frame('1', 'response', 'other', 'OK', '', '') },
  { what: 'another message', answer: frame('1', 'sip', 'network') },
])('probeDrachtio rejects $what', async ({ answer }) => {
  const host = await serverThat((_fields, socket) => {
    socket.write(answer);
  });
  await expect(probeDrachtio(`drachtio://:secret@${host}`)).rejects.toThrow('no drachtio-server');
});

it('probeDrachtio rejects when the connection is closed or refused', async () => {
  const host = await serverThat((_fields, socket) => {
    socket.end();
  });
  await expect(probeDrachtio(`drachtio://:secret@${host}`)).rejects.toThrow('closed without an answer');
  await expect(probeDrachtio(`drachtio://:secret@127.0.0.1:${await reservePort()}`)).rejects.toMatchObject({
    code: 'ECONNREFUSED',
  });
});
