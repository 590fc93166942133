import { expect, test } from 'vitest';

import { IngestionShares } from '../../../src/knowledge/ingest/ingestionShares.ts';

test('A project runs two ingestions of a node; its others come back one after another', async () => {
  const shares = new IngestionShares();
  const ends: (() => void)[] = [];
  const start = (project: string) =>
    shares.run(project, () => new Promise<string>((resolve) => ends.push(() => resolve('done'))));
  const running = [start('a'), start('a'), start('b')];
  expect(await Promise.all([start('a'), start('a'), start('a')])).toEqual([
    { afterMs: 250 },
    { afterMs: 250 },
    { afterMs: 250 },
  ]);
  expect(ends).toHaveLength(3);
  for (const end of ends) end();
  expect(await Promise.all(running)).toEqual(['done', 'done', 'done']);
  const again = start('a');
  ends.at(-1)?.();
  expect(await again).toBe('done');
});
