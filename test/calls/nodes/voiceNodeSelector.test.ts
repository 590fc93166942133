import { beforeEach, describe, expect, test } from 'vitest';
import type { VoiceNode, VoiceNodeRegistry } from '../../../src/calls/nodes/voiceNodeRegistry.ts';
import { VoiceNodeSelector } from '../../../src/calls/nodes/voiceNodeSelector.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

const urlOf = (nodeId: string) => `http://${nodeId}:3000`;
const node = (nodeId: string, sessions = 0): VoiceNode => ({ nodeId, url: urlOf(nodeId), sessions });
const overloaded = (nodeId: string, sessions = 0): VoiceNode => ({
  ...node(nodeId, sessions),
  isOverloaded: true,
});

let clock: SimulatedClock;
let registered: VoiceNode[];
beforeEach(() => {
  clock = createSimulatedClock();
  registered = [];
});
const selectorFor = (own?: string, random = 0) =>
  new VoiceNodeSelector({
    registry: unused<VoiceNodeRegistry>('registry', { list: async () => registered }),
    ...(own === undefined ? {} : { own: () => [node(own)] }),
    clock,
    random: () => random,
  });

describe('VoiceNodeSelector', () => {
  test.each([
    ['the least busy node', [node('a', 3), node('b', 1), node('c', 2)], 0, 'b'],
    ['a random one of equally busy nodes', [node('a', 1), node('b', 1), node('c', 2)], 0.99, 'b'],
    ['the only node, however busy', [node('a', 200)], 0.5, 'a'],
    ['a node that is not overloaded', [overloaded('a'), node('b', 9), overloaded('c', 20)], 0, 'b'],
    ['the least busy of overloaded nodes', [overloaded('a', 9), overloaded('b', 8)], 0, 'b'],
  ])('selects %s', async (_what, nodes, random, expected) => {
    registered = nodes;
    expect((await selectorFor(undefined, random).select('call')).nodeId).toBe(expected);
  });

  test('selects the least busy of its own threads without reading the registry', async () => {
    const selector = new VoiceNodeSelector({
      registry: unused<VoiceNodeRegistry>('registry', { list: () => Promise.reject(new Error('not read')) }),
      own: () => [node('one', 2), node('two', 1)],
      clock,
      random: () => 0,
    });
    expect((await selector.select('call')).nodeId).toBe('two');
    expect((await selector.selectForStream()).nodeId).toBe('one');
  });

  test('selects another of its own threads when one has failed', async () => {
    registered = [node('other')];
    const selector = new VoiceNodeSelector({
      registry: unused<VoiceNodeRegistry>('registry', { list: async () => registered }),
      own: () => [node('one'), node('two', 9)],
      clock,
      random: () => 0,
    });
    expect((await selector.select('call')).nodeId).toBe('one');
    expect((await selector.select('call')).nodeId).toBe('two');
  });

  test('selects its only thread again when it has failed and Redis is away', async () => {
    const selector = new VoiceNodeSelector({
      registry: unused<VoiceNodeRegistry>('registry', { list: () => Promise.reject(new Error('no Redis')) }),
      own: () => [node('one')],
      clock,
      random: () => 0,
    });
    for (let n = 0; n < 2; n++) expect((await selector.select('call')).nodeId).toBe('one');
  });

  test('never hands the stream of another carrier from its own threads to another node', async () => {
    registered = [node('other')];
    const withoutThreads = {
      registry: unused<VoiceNodeRegistry>('registry', { list: async () => registered }),
      clock,
      random: () => 0,
    };
    expect((await new VoiceNodeSelector(withoutThreads).selectForStream()).nodeId).toBe('other');
    const selector = new VoiceNodeSelector({ ...withoutThreads, own: () => [] });
    await expect(selector.selectForStream()).rejects.toMatchObject({ code: 'voice_unavailable' });
  });

  test('fails with voice_unavailable when no node is registered', async () => {
    await expect(selectorFor().select('call')).rejects.toMatchObject({
      category: 'unavailable',
      code: 'voice_unavailable',
    });
  });

  test('spreads simultaneous calls before the nodes have registered their new load', async () => {
    registered = [node('a'), node('b'), node('c')];
    const selector = selectorFor();
    const selected = await Promise.all(['1', '2', '3', '4', '5', '6'].map((call) => selector.select(call)));
    expect(selected.map((url) => selected.filter((one) => one === url).length)).toEqual([2, 2, 2, 2, 2, 2]);
    clock.advance(999);
    expect((await selector.select('7')).nodeId).toBe('a');
    expect((await selector.select('8')).nodeId).toBe('b');
    clock.advance(1);
    // Those of the last moment still count: the sixth call is a second old.
    expect((await selector.select('9')).nodeId).toBe('c');
  });

  test('avoids a node that a call has lost, for all calls, for ten seconds', async () => {
    registered = [node('a'), node('b', 5)];
    const selector = selectorFor();
    expect((await selector.select('call')).nodeId).toBe('a');
    expect((await selector.select('call')).nodeId).toBe('b');
    expect((await selector.select('other')).nodeId).toBe('b');
    clock.advance(10_000);
    expect((await selector.select('third')).nodeId).toBe('a');
  });

  test('selects another node when its own has failed', async () => {
    registered = [node('own'), node('b', 9)];
    const selector = selectorFor('own');
    await selector.select('call');
    expect((await selector.select('call')).nodeId).toBe('b');
  });

  test('selects an avoided node when there is no other', async () => {
    registered = [node('a')];
    const selector = selectorFor();
    await selector.select('call');
    expect((await selector.select('call')).nodeId).toBe('a');
  });

  test('does not avoid the node of an ended call', async () => {
    registered = [node('a'), node('b', 5)];
    const selector = selectorFor();
    await selector.select('call');
    selector.forget('call');
    clock.advance(1000);
    expect((await selector.select('call')).nodeId).toBe('a');
  });
});
