import type { ChatProvider } from '../chat/chatClient.ts';
import type { ChatOptions } from '../providerOptions.ts';
import { createAnthropicChat } from './chat.ts';

export function createChat({ credentials, onRefused, guard }: ChatOptions): ChatProvider {
  return createAnthropicChat({ ...credentials, onRefused, guard });
}
