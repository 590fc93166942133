import type { ChatOptions } from '../providerOptions.ts';
import type { ChatProvider } from '../streamWithRetry.ts';
import { createAnthropicChat } from './chat.ts';

export function createChat({ credentials, guard }: ChatOptions): ChatProvider {
  return createAnthropicChat({ ...credentials, guard });
}
