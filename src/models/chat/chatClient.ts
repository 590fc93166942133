import {
  type StreamDeps,
  type StreamedResponse,
  type StreamSource,
  streamWithRetry,
} from '../failover/streamWithRetry.ts';
import type { ChatEvent, ChatModel, ChatRequest } from '../ports/chatModel.ts';
import { SpokenAnswers } from './spokenAnswers.ts';

/** A chat vendor's API: one request, tried once, without timeouts. */
export interface ChatProvider {
  readonly toModelError: StreamSource<ChatEvent>['toModelError'];
  /** The name in logs, metrics and traces. */
  readonly name: string;
  /** The only model, used whatever model a request names. */
  readonly onlyModel?: string;
  open(request: ChatRequest, signal: AbortSignal): Promise<StreamedResponse<ChatEvent>>;
  close(): Promise<void>;
}

/** A vendor with a retry, timeouts and metrics, whose answers are without thoughts. */
export function createChatClient(provider: ChatProvider, deps: StreamDeps): ChatModel {
  const spoken = new SpokenAnswers();
  return {
    name: provider.name,
    stream(request, signal) {
      const source: StreamSource<ChatEvent> = {
        open: async (attemptSignal) =>
          spoken.of(request, await provider.open(spoken.request(request), attemptSignal)),
        toModelError: provider.toModelError,
      };
      return streamWithRetry(source, { ...deps, attempts: request.attempts }, signal);
    },
  };
}
