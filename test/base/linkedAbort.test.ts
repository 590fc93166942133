import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';

import { linkAbort } from '../../src/base/linkedAbort.ts';

test('it follows whichever of the others is aborted first, with its reason', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const { signal } = linkAbort(one.signal, other.signal);
  other.abort('other');
  one.abort('one');
  expect(signal.reason).toBe('other');
});

test('it is aborted from the beginning where one of the others is', () => {
  const one = new AbortController();
  expect(linkAbort(one.signal, AbortSignal.abort('before')).signal.reason).toBe('before');
});

test('its own abort touches nobody else', () => {
  const one = new AbortController();
  const link = linkAbort(one.signal);
  link.abort('own');
  expect([link.signal.aborted, one.signal.aborted]).toEqual([true, false]);
});

test('once unlinked it follows nobody, and nobody keeps it', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const link = linkAbort(one.signal, other.signal);
  link.unlink();
  link.unlink();
  expect([one, other].map(({ signal }) => getEventListeners(signal, 'abort').length)).toEqual([0, 0]);
  one.abort('too late');
  expect(link.signal.aborted).toBe(false);
});
