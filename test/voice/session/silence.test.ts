import { expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import {
  eventsOf,
  GREETING,
  greeted,
  lastMessage,
  nodeWith,
  simulatedCall,
} from '../support/simulatedCall.ts';

test('Silence starts the node’s prompts in order, then a goodbye and the hang-up', async () => {
  const silence = { afterMs: 3000, prompts: ['Hello?', 'Anybody?'], hangupAfter: 2 };
  const call = simulatedCall({ answer: () => GREETING, pathway: nodeWith({ silence }) });
  await greeted(call);
  await call.stream.until(() => call.stream.commands.length > 0, 30_000);
  expect(call.stream.commands).toEqual([{ kind: 'hangup' }]);
  expect(call.transcript().slice(1)).toEqual([
    'assistant: Hello?',
    'assistant: Anybody?',
    'assistant: I cannot hear you. Goodbye.',
  ]);
  expect(eventsOf(call, 'silence').length).toBe(3);
  expect(Number(eventsOf(call, 'silence')[0]?.durationMs)).toBeGreaterThanOrEqual(3000);
  expect(lastMessage(call)?.content).toBe('I cannot hear you. Goodbye.');
  expect(lastMessage(call)?.latencyMs).toBeUndefined();
  await call.stream.hangUp();
  expect((await call.report).outcome).toBe('hung_up');
});

test('Silence does not count on hold and restarts after it', async () => {
  const silence = { afterMs: 3000, prompts: ['Hello?'] };
  const call = simulatedCall({ answer: () => GREETING, pathway: nodeWith({ silence }) });
  await greeted(call);
  call.stream.putOnHold(true);
  await call.stream.advance(60_000);
  call.stream.putOnHold(false);
  await call.stream.advance(2900);
  expect(eventsOf(call, 'silence')).toEqual([]);
  await greeted(call);
  expect(call.transcript().slice(1)).toEqual(['assistant: Hello?']);
  await call.hangUp();
});

test('Silence follows the pathway’s silence edge', async () => {
  const pathway: PathwayInput = {
    nodes: [
      { id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.', silence: { afterMs: 2000 } } },
      { id: 'late', type: 'say', data: { title: 'Late', prompt: 'You seem to be busy.' } },
    ],
    edges: [{ id: 'silent', source: 'start', target: 'late', data: { condition: { event: 'silence' } } }],
  };
  const call = simulatedCall({ answer: () => GREETING, pathway });
  await greeted(call);
  await greeted(call);
  await call.stream.hangUp();
  expect(call.transcript()[1]).toBe('assistant: You seem to be busy.');
  await call.report;
});

/** Silence edges of `start`, each to a say node that is named by its time, and global ones. */
const silenceEdges = (own: readonly number[], everywhere: readonly number[] = []): PathwayInput => {
  const [start] = nodeWith({ silence: { afterMs: 4000, prompts: ['Hello?'], hangupAfter: 1 } }).nodes;
  const times = [...own, ...everywhere];
  return {
    nodes: [
      ...(start ? [start] : []),
      ...times.map((ms) => ({
        id: `after-${ms}`,
        type: 'say' as const,
        data: { title: `${ms}`, prompt: `${ms}.` },
      })),
    ],
    edges: times.map((afterMs, index) => ({
      id: `e-${afterMs}`,
      source: index < own.length ? 'start' : '*',
      target: `after-${afterMs}`,
      data: { condition: { event: 'silence', afterMs } },
    })),
  };
};

test.each<[string, PathwayInput, string[], number]>([
  ['before the node’s reprompt', silenceEdges([2000]), ['2000.'], 2000],
  ['after reprompts, which do not restart it', silenceEdges([11_000]), ['Hello?', '11000.'], 11_000],
  ['later than the hang-up would be', silenceEdges([30_000]), ['Hello?', '30000.'], 30_000],
  ['the shortest first', silenceEdges([3000, 2000]), ['2000.'], 2000],
  ['of a global edge', silenceEdges([3000], [2500]), ['2500.'], 2500],
])('A silence edge is taken at its own time: %s', async (_name, pathway, said, afterMs) => {
  const call = simulatedCall({ answer: () => GREETING, pathway });
  await greeted(call);
  await call.stream.until(() => call.voice.texts.includes(said.at(-1) ?? ''), afterMs + 5000);
  await greeted(call);
  await call.stream.hangUp();
  expect(call.transcript().slice(1)).toEqual(said.map((text) => `assistant: ${text}`));
  const durationMs = Number(eventsOf(call, 'silence').at(-1)?.durationMs);
  expect(durationMs).toBeGreaterThanOrEqual(afterMs);
  expect(durationMs).toBeLessThan(afterMs + 100);
  await call.report;
});

test('A reprompt that is cut off keeps its whole text', async () => {
  const silence = { afterMs: 2000, prompts: ['Are you still there, or shall I call again later?'] };
  const call = simulatedCall({ answer: () => GREETING, pathway: nodeWith({ silence }) });
  await greeted(call);
  await call.agentSpeaks();
  await call.stream.advance(400);
  await call.say('Yes, I am here, please go on.', 1500);
  await greeted(call);
  await call.stream.hangUp();
  const reprompt = call.memory.records
    .flatMap(({ messages }) => messages)
    .find(({ interrupted }) => interrupted);
  expect(reprompt).toMatchObject({ role: 'assistant', generatedText: silence.prompts[0] });
  expect(silence.prompts[0]?.startsWith(reprompt?.content ?? '-')).toBe(true);
  await call.report;
});
