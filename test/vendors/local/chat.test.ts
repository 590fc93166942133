import { expect, it } from 'vitest';
import type { Situation } from '../../../offline/chat/request.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import { rehearsalOptions } from '../../../src/engine/prompt/rehearsal.ts';
import {
  extractAnswer,
  extractFormat,
  judgeAnswer,
  moveArguments,
  moveTool,
  routeAnswer,
} from '../../../src/engine/prompt/structuredOutput.ts';
import { createChatClient } from '../../../src/models/chat/chatClient.ts';
import type { ChatEvent, ChatRequest } from '../../../src/models/ports/chatModel.ts';
import { createRehearsalChat } from '../../../src/vendors/local/chat.ts';
import { arrayFromAsync } from '../../support/arrayFromAsync.ts';

const forever = new AbortController().signal;
const model = createChatClient(createRehearsalChat({ makeId: () => '1-2' }), {
  clock: systemClock,
  timeoutMs: 5000,
});
const node = { id: 'n1', title: 'Greeting', prompt: 'Say "Hello there."', type: 'conversation' };
const book = { id: 'e-book', label: '', sentence: 'The caller wants to book' };

function ask(situation: Situation, request: Partial<ChatRequest> = {}): Promise<ChatEvent[]> {
  const whole = { model: 'any', messages: [], ...request, ...rehearsalOptions({ node, ...situation }) };
  return arrayFromAsync(model.stream(whole, forever));
}

async function askForJson(purpose: ChatRequest['purpose'] & string, situation: Situation): Promise<unknown> {
  const [event] = await ask(situation, { purpose });
  return JSON.parse(event?.type === 'text' ? event.text : '');
}

it('Rehearsal model streams text word by word under its own name', async () => {
  expect(await ask({}, { messages: [{ role: 'user', content: 'Good day to' }] })).toEqual([
    { type: 'text', text: 'Hello ' },
    { type: 'text', text: 'there.' },
    {
      type: 'end',
      finishReason: 'stop',
      model: 'callway-rehearsal',
      usage: { promptTokens: 3, completionTokens: 2, totalTokens: 5 },
    },
  ]);
});

it('Rehearsal model takes an edge by the engine’s move tool', async () => {
  const events = await ask(
    { choices: [book], lastUserText: 'I want to book' },
    { purpose: 'answer_and_route', tools: [moveTool([book])] },
  );
  const json = '{"edge":"e-book"}';
  expect(moveArguments.parse(JSON.parse(json))).toEqual({ edge: 'e-book' });
  expect(events).toEqual([
    { type: 'tool_call_delta', index: 0, id: 'call_12', name: 'move_to', argumentsDelta: json },
    { type: 'tool_call', index: 0, id: 'call_12', name: 'move_to', arguments: json },
    {
      type: 'end',
      finishReason: 'tool_calls',
      model: 'callway-rehearsal',
      usage: { promptTokens: 0, completionTokens: 1, totalTokens: 1 },
    },
  ]);
});

it('Rehearsal model answers structured output requests in the engine’s formats', async () => {
  const lastUserText = 'I want to book for four guests';
  const guests = { name: 'guests', type: 'number' as const, description: 'Number of guests' };
  const criteria = [{ name: 'booked', description: 'A booking was made' }];

  const route = await askForJson('route', { choices: [book], lastUserText });
  const extracted = await askForJson('extract', { variableConfigs: [guests], lastUserText });
  const judged = await askForJson('judge', { criteria });

  expect(routeAnswer.parse(route)).toEqual({ edge: 'e-book' });
  expect(extractAnswer.parse(extracted)).toEqual({ guests: 4 });
  expect(Object.keys(extracted ?? {})).toEqual(extractFormat([guests]).schema.required);
  expect(judgeAnswer.parse(judged).results).toMatchObject([{ name: 'booked', passed: false }]);
});

it('Rehearsal model stops when its request is aborted', async () => {
  const aborting = new AbortController();
  const request = { model: 'any', messages: [], ...rehearsalOptions({ node }) };
  const events = model.stream(request, aborting.signal)[Symbol.asyncIterator]();
  await events.next();
  aborting.abort(new Error('gone'));
  await expect(events.next()).rejects.toThrow('gone');
});
