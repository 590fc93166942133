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
  await call.stream.hangUp();
  await call.report;
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
