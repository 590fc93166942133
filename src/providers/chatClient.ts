import type { ChatEvent, ChatModel, ChatRequest } from './ports/chatModel.ts';
import {
  type StreamDeps,
  type StreamedResponse,
  type StreamSource,
  streamWithRetry,
} from './streamWithRetry.ts';

/** A chat vendor's API: one request, tried once, without timeouts. */
export interface ChatProvider extends Pick<StreamSource<ChatEvent>, 'toModelError'> {
  /** In logs, metrics and traces. */
  readonly name: string;
  /** The only model, whichever a request names. */
  readonly onlyModel?: string;
  open(request: ChatRequest, signal: AbortSignal): Promise<StreamedResponse<ChatEvent>>;
  close(): Promise<void>;
}

/** A vendor with a retry, timeouts and metrics. One generator stands between the vendor's stream and the reader. */
export function createChatClient(provider: ChatProvider, deps: StreamDeps): ChatModel {
  return {
    name: provider.name,
    stream(request, signal) {
      const source: StreamSource<ChatEvent> = {
        open: (attemptSignal) => provider.open(request, attemptSignal),
        toModelError: provider.toModelError,
      };
      return streamWithRetry(source, deps, signal);
    },
  };
}
