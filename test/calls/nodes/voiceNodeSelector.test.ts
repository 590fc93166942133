import { beforeEach, describe, expect, test } from 'vitest';

import type { VoiceNode } from '../../../src/calls/nodes/voiceNodeRegistry.ts';
import { registerVoiceNode, VOICE_LEASE_MS } from '../../../src/calls/nodes/voiceNodeRegistry.ts';
import { createVoiceNodeSelector } from '../../../src/calls/nodes/voiceNodeSelector.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';

const node = (nodeId: string, talks = 0): VoiceNode => ({
  nodeId,
  url: `http://${nodeId}:3000`,
  sessions: talks,
});
const urlOf = (nodeId: string) => node(nodeId).url;

let clock: SimulatedClock;
let alive: VoiceNode[];
beforeEach(() => {
  clock = createSimulatedClock();
  alive = [];
});
const route = (own?: string, random = 0) =>
  createVoiceNodeSelector({
    nodes: { list: async () => alive },
    ...(own === undefined ? {} : { own: { nodeId: own, url: () => urlOf(own) } }),
    clock,
    random: () => random,
  });

describe('a call’s voice', () => {
  test.each([
    ['the least busy', [node('a', 3), node('b', 1), node('c', 2)], 0, 'b'],
    ['any of those that are equally so', [node('a', 1), node('b', 1), node('c', 2)], 0.99, 'b'],
    ['the only one, however busy', [node('a', 200)], 0.5, 'a'],
  ])('is %s', async (_what, nodes, random, expected) => {
    alive = nodes;
    expect(await route(undefined, random).select('call')).toBe(urlOf(expected));
  });

  test('is this node’s own where it has one, which nobody needs to be asked for', async () => {
    const voices = createVoiceNodeSelector({
      nodes: { list: () => Promise.reject(new Error('not asked')) },
      own: { nodeId: 'own', url: () => urlOf('own') },
      clock,
      random: () => 0,
    });
    expect(await voices.select('call')).toBe(urlOf('own'));
  });

  test('is nobody’s where no node talks', async () => {
    await expect(route().select('call')).rejects.toMatchObject({
      category: 'unavailable',
      code: 'voice_unavailable',
    });
  });

  test('calls that come together go to different nodes, before any has said that it is busier', async () => {
    alive = [node('a'), node('b'), node('c')];
    const voices = route();
    const chosen = await Promise.all(['1', '2', '3', '4', '5', '6'].map((call) => voices.select(call)));
    expect(chosen.map((url) => chosen.filter((one) => one === url).length)).toEqual([2, 2, 2, 2, 2, 2]);
    clock.advance(1000);
    expect(await voices.select('7')).toBe(urlOf('a'));
  });

  test('that is lost is another one’s, for all calls, until it may be back', async () => {
    alive = [node('a'), node('b', 5)];
    const voices = route();
    expect(await voices.select('call')).toBe(urlOf('a'));
    expect(await voices.select('call')).toBe(urlOf('b'));
    expect(await voices.select('other')).toBe(urlOf('b'));
    clock.advance(10_000);
    expect(await voices.select('third')).toBe(urlOf('a'));
  });

  test('is this node’s neighbour’s when its own fails', async () => {
    alive = [node('own'), node('b', 9)];
    const voices = route('own');
    await voices.select('call');
    expect(await voices.select('call')).toBe(urlOf('b'));
  });

  test('is one that failed before, when there is no other', async () => {
    alive = [node('a')];
    const voices = route();
    await voices.select('call');
    expect(await voices.select('call')).toBe(urlOf('a'));
  });

  test('of a call that is over says nothing about the node', async () => {
    alive = [node('a'), node('b', 5)];
    const voices = route();
    await voices.select('call');
    voices.forget('call');
    clock.advance(1000);
    expect(await voices.select('call')).toBe(urlOf('a'));
  });
});

describe('a node that talks', () => {
  interface Said {
    readonly talks: number;
    readonly leaseMs: number;
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  async function present() {
    const said: Said[] = [];
    const withdrawn: string[] = [];
    const errors: unknown[] = [];
    const state = { talks: 0, isAway: false, hold: undefined as Promise<void> | undefined };
    const presence = await registerVoiceNode({
      nodes: {
        async register({ sessions: talks }, leaseMs) {
          if (state.isAway) throw new Error('away');
          said.push({ talks, leaseMs });
          await state.hold;
        },
        deregister: async (nodeId) => void withdrawn.push(nodeId),
      },
      node: { nodeId: 'a', url: urlOf('a') },
      talks: () => state.talks,
      clock,
      onError: (error) => errors.push(error),
    });
    return { said, withdrawn, errors, state, presence };
  }

  test('says so at once, with each change, and again before its word runs out', async () => {
    const { said, state, presence } = await present();
    expect(said).toEqual([{ talks: 0, leaseMs: VOICE_LEASE_MS }]);
    state.talks = 1;
    presence.update();
    await settle();
    expect(said.map(({ talks }) => talks)).toEqual([0, 1]);
    for (let passedMs = 0; passedMs < VOICE_LEASE_MS; passedMs += 1000) {
      clock.advance(1000);
      await settle();
    }
    expect(said).toHaveLength(5);
    await presence.withdraw();
  });

  test('says the newest of many changes last, and nothing twice at a time', async () => {
    const { said, state, presence } = await present();
    let release = () => {};
    state.hold = new Promise((resolve) => {
      release = resolve;
    });
    for (const talks of [1, 2, 3]) {
      state.talks = talks;
      presence.update();
    }
    expect(said.map(({ talks }) => talks)).toEqual([0, 1]);
    state.hold = undefined;
    release();
    await settle();
    expect(said.map(({ talks }) => talks)).toEqual([0, 1, 3]);
    await presence.withdraw();
  });

  test('goes on through Redis’ absence, and takes its word back when it goes', async () => {
    const { said, withdrawn, errors, state, presence } = await present();
    state.isAway = true;
    clock.advance(2000);
    await settle();
    expect(errors).toHaveLength(1);
    state.isAway = false;
    clock.advance(2000);
    await settle();
    expect(said).toHaveLength(2);
    await Promise.all([presence.withdraw(), presence.withdraw()]);
    presence.update();
    clock.advance(10_000);
    await settle();
    expect([said.length, withdrawn, clock.pendingTimers()]).toEqual([2, ['a'], 0]);
  });
});
