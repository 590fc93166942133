import { afterEach, beforeEach } from 'vitest';
import { type Clock, systemClock } from '../../../../src/base/values/clock.ts';
import { createChatClient } from '../../../../src/models/chat/chatClient.ts';
import type { ChatEvent, ChatModel, ChatRequest } from '../../../../src/models/ports/chatModel.ts';
import { ModelError } from '../../../../src/models/ports/modelError.ts';
import { createOpenAiEndpoint, type OpenAiEndpoint } from '../../../../src/vendors/openai/endpoint.ts';
import { createOpenAiChat, type OpenAiChatDeps } from '../../../../src/vendors/openai/provider.ts';
import { arrayFromAsync } from '../../../support/arrayFromAsync.ts';
import {
  type Answer,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../../../support/scriptedUpstream.ts';

export const KEY = 'sk-test-0123456789abcdef';
export const QUESTION: ChatRequest = { model: 'gpt-x', messages: [{ role: 'user', content: 'Hello' }] };
export const forever = new AbortController().signal;

/** Timers run 20 times as fast. */
const clock: Clock = {
  ...systemClock,
  setTimer: (callback, delayMs) => systemClock.setTimer(callback, delayMs / 20),
};

export const clientOf = (
  endpoint: OpenAiEndpoint,
  onRefused: OpenAiChatDeps['onRefused'] = () => undefined,
) =>
  createChatClient(createOpenAiChat({ endpoint, makeId: () => 'made', onRefused }), {
    clock,
    timeoutMs: 60_000,
  });

/** Chat with a scripted endpoint. */
export interface ChatRig {
  upstream: ScriptedUpstream;
  model: ChatModel;
  ask(request?: Partial<ChatRequest>, signal?: AbortSignal): Promise<ChatEvent[]>;
  failureOf(...answers: readonly Answer[]): Promise<ModelError>;
}

/** A new endpoint for each test of a file. */
export function useChatRig(): ChatRig {
  let upstream: ScriptedUpstream;
  let endpoint: OpenAiEndpoint;
  let model: ChatModel;
  beforeEach(async () => {
    upstream = await startScriptedUpstream();
    endpoint = createOpenAiEndpoint({ apiKey: KEY, baseUrl: upstream.baseUrl });
    model = clientOf(endpoint);
  });
  afterEach(async () => {
    await endpoint.close();
    await upstream.close();
  });
  const ask: ChatRig['ask'] = (request = {}, signal = forever) =>
    arrayFromAsync(model.stream({ ...QUESTION, ...request }, signal));
  return {
    get upstream() {
      return upstream;
    },
    get model() {
      return model;
    },
    ask,
    async failureOf(...answers) {
      upstream.answerWith(...answers);
      const error: unknown = await ask().catch((thrown: unknown) => thrown);
      if (!(error instanceof ModelError)) throw new Error('expected a ModelError', { cause: error });
      return error;
    },
  };
}

export const textOf = (events: readonly ChatEvent[]) =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('');
