import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';

import { linkAbort } from '../../../src/base/async/linkedAbort.ts';

test('A linked signal is aborted by the first outer signal, with its reason', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const { signal } = linkAbort(one.signal, other.signal);
  other.abort('other');
  one.abort('one');
  expect(signal.reason).toBe('other');
});

test('A linked signal is aborted at once when an outer signal is aborted already', () => {
  const one = new AbortController();
  expect(linkAbort(one.signal, AbortSignal.abort('before')).signal.reason).toBe('before');
});

test('Aborting a linked signal does not abort the outer signals', () => {
  const one = new AbortController();
  const link = linkAbort(one.signal);
  link.abort('own');
  expect([link.signal.aborted, one.signal.aborted]).toEqual([true, false]);
});

test('unlink removes the listeners from the outer signals', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const link = linkAbort(one.signal, other.signal);
  link.unlink();
  link.unlink();
  expect([one, other].map(({ signal }) => getEventListeners(signal, 'abort').length)).toEqual([0, 0]);
  one.abort('too late');
  expect(link.signal.aborted).toBe(false);
});
