import { expect, test, vi } from 'vitest';

import { readMessages } from '../../../src/streams/transport/readMessages.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { memorySockets } from '../support/memorySockets.ts';

test('A message whose reading throws closes its connection, and later ones are not read', async () => {
  const clock = createSimulatedClock();
  const [peer, socket] = memorySockets();
  const seen: unknown[] = [];
  readMessages(socket, clock, 'carrier', {
    read(message) {
      seen.push(message);
      throw new TypeError('odd');
    },
    onError: (error) => seen.push(error),
  });
  socket.on('close', (code) => seen.push(code));
  peer.send('first');
  peer.send('second');
  await vi.waitFor(() => expect(seen).toHaveLength(3));
  expect(seen).toEqual(['first', new TypeError('odd'), 1011]);
  clock.advance(60_000);
  expect(clock.pendingTimers()).toBe(0);
});
