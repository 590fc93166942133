import type { Conversations } from '../../src/conversation/conversations.ts';
import type { WebhookAdmin } from '../../src/http/ports.ts';

const refuse = (): never => {
  throw new Error('nothing talks here');
};

/** For an API under test where nothing talks. */
export const noConversations: Conversations = { create: refuse, find: refuse, converse: refuse, end: refuse };

export const noWebhooks: WebhookAdmin = { deliveries: refuse, secret: refuse, rotate: refuse };
