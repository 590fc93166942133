import { expect, test } from 'vitest';

import { createKnowledge } from '../../support/knowledge.ts';
import { sharedRig } from './support/rig.ts';
import { report, requiresAllFaults } from './support/table.ts';

/** The longest silence that a caller may hear. */
const DEAD_LINE_MS = 10_000;
/** Documents that exhaust memory, the depth of a parser, or its time, with why they fail. */
const ATTACKS: readonly (readonly [name: string, content: Buffer | string, reason: RegExp])[] = [
  ['commas.csv', Buffer.alloc(25_000_000, ','), /more than 1000 columns/],
  ['deep.html', `<!doctype html>${'<div>'.repeat(2_000_000)}`, /nested more than 10000 levels/],
  [
    'slow.html',
    `<!doctype html><style>${'* *{color:red}'.repeat(40_000)}</style>${'<p>x</p>'.repeat(40_000)}`,
    /takes more than 3\d s to read/,
  ],
];

// One process has the calls and parses the documents.
const rig = sharedRig({ nodes: [['api', 'worker', 'voice', 'media']] });

test('calls hear nothing of documents of another project that attack their parser', {
  ...requiresAllFaults,
  timeout: 240_000,
}, async () => {
  const { cluster, startCalls, waitForCompletion } = rig();
  const knowledge = await createKnowledge(cluster.client);
  const { process } = cluster.node('worker');
  const exits: unknown[] = [];
  void process.ended.then((status) => exits.push(status));
  const calls = await startCalls(2, 20);
  const reasons: string[] = [];
  for (const [name, content, reason] of ATTACKS) {
    const { status, error = '' } = await knowledge.add(name, content);
    expect([name, status, error]).toEqual([name, 'failed', expect.stringMatching(reason)]);
    reasons.push(error);
  }
  const silenceMs = await waitForCompletion(calls);
  expect(silenceMs).toBeLessThan(DEAD_LINE_MS);
  expect(exits).toEqual([]);
  report({
    what: 'Documents made to exhaust memory and time',
    done: '25 million commas as CSV, two million open elements, and style rules that take minutes to apply, uploaded during two calls of another project to the same process',
    seen: `failed (“${reasons.join('”, “')}”); the calls completed, longest silence ${silenceMs} ms; the process went on`,
  });
});
