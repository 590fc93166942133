import { expect, test } from 'vitest';

import { UnreadAudio } from '../../../src/streams/transport/unreadAudio.ts';
import { MemorySocket } from '../support/memorySockets.ts';

/** A peer whose answers a test gives. */
class Peer extends MemorySocket {
  readonly asked: string[] = [];
  override ping(data = ''): void {
    this.asked.push(data);
  }
  answer(data = this.asked.at(-1) ?? ''): void {
    this.emit('pong', Buffer.from(data));
  }
}

function openStream() {
  const peer = new Peer();
  const unread = new UnreadAudio(peer);
  const send = (frames: number) => {
    for (let n = 0; n < frames; n++) unread.sent();
  };
  return { peer, unread, send };
}

test('Unread audio is counted from the last ping that was answered', () => {
  const { peer, unread, send } = openStream();
  send(5);
  peer.answer();
  expect([peer.asked, unread.frames]).toEqual([['1'], 4]);
  send(30);
  expect([peer.asked, unread.frames]).toEqual([['1', '26'], 34]);
  peer.answer();
  expect(unread.frames).toBe(9);
});

test('Unread audio of a peer is asked for once at a time, and twice a second', () => {
  const { peer, send } = openStream();
  send(20);
  expect(peer.asked).toEqual(['1']);
  peer.answer();
  for (let n = 0; n < 50; n++) {
    send(1);
    peer.answer();
  }
  expect(peer.asked).toEqual(['1', '26', '51']);
});

test.each([
  ['that answers no ping', []],
  ['that answers with nothing', ['', '']],
  ['that answers with what was not asked', ['2', '1e3', '-1', '0', 'x', '99999999999999999999']],
])('Unread audio of a peer %s is not known', (_what, answers) => {
  const { peer, unread, send } = openStream();
  send(20);
  for (const answer of answers) peer.answer(answer);
  send(20);
  expect([unread.frames, peer.asked]).toEqual([undefined, ['1']]);
});

test('Unread audio is asked for again at once when the first answer leaves much of it', () => {
  const { peer, unread, send } = openStream();
  send(300);
  peer.answer('1');
  expect([peer.asked, unread.frames]).toEqual([['1', '300'], 299]);
  peer.answer();
  expect([peer.asked, unread.frames]).toEqual([['1', '300'], 0]);
});

test('Unread audio is asked for again when a peer answers a later ping of the heartbeat alone', () => {
  const { peer, unread, send } = openStream();
  send(1);
  peer.answer();
  send(30);
  peer.answer('');
  expect(peer.asked).toEqual(['1', '26', '31']);
  peer.answer();
  expect(unread.frames).toBe(0);
});
