import { expect, test } from 'vitest';

import { rememberWidgetOrigins } from '../../../src/agents/accounts/widgetOrigins.ts';
import type { WidgetTokenStore } from '../../../src/agents/accounts/widgetToken.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const [PROJECT, SHOP, STRANGER] = ['p', 'https://shop.example', 'https://evil.example'];

function remember() {
  const clock = createSimulatedClock();
  const kept = new Set([SHOP]);
  let reads = 0;
  const allOrigins: WidgetTokenStore['allOrigins'] = async () => {
    reads += 1;
    return [...kept].map((origin) => ({ projectId: PROJECT, origin }));
  };
  const allows = rememberWidgetOrigins({ allOrigins } as WidgetTokenStore, clock);
  return { clock, kept, reads: () => reads, allows: (origin: string, id = PROJECT) => allows(id, origin) };
}

test('Hundreds of preflights at once cause two reads, and each is answered', async () => {
  const { allows, reads } = remember();
  const strangers = Array.from({ length: 300 }, (_, index) => allows(`${STRANGER}:${index}`));
  expect(await allows(SHOP)).toBe(true);
  expect(await Promise.all(strangers)).not.toContain(true);
  expect(await allows(SHOP, 'another project')).toBe(false);
  expect(reads()).toBe(2);
});

test('An origin that is allowed or removed counts within ten seconds', async () => {
  const { clock, kept, allows, reads } = remember();
  expect([await allows(SHOP), await allows(STRANGER)]).toEqual([true, false]);
  kept.add(STRANGER).delete(SHOP);
  await clock.advance(1_000);
  expect(await allows(STRANGER)).toBe(true);
  await clock.advance(9_000);
  expect(await allows(SHOP)).toBe(false);
  expect(reads()).toBe(3);
});
