import type { ChatProvider } from '../../models/chat/chatClient.ts';
import type { ChatOptions } from '../../models/providerOptions.ts';
import { createAnthropicChat } from './chat.ts';

export function createChat({ credentials, onRefused, guard }: ChatOptions): ChatProvider {
  return createAnthropicChat({ ...credentials, onRefused, guard });
}
