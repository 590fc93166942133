/** The groups of the API document with their descriptions, in the order of its pages. */
export const TAGS = [
  ['Projects', 'Projects and their API keys.'],
  ['Agent', 'The agent’s configuration.'],
  ['Pathway', 'The graph that conversations follow.'],
  ['Releases', 'What was published, and what callers get.'],
  ['Tools', 'HTTP requests that the agent can make.'],
  ['MCP servers', 'Servers whose tools the agent can call.'],
  ['Speech', 'A project’s own keys for providers of speech and chat, and what its voices sound like.'],
  ['Chat', 'Chat with the agent through OpenAI’s clients.'],
  ['OpenAI', 'The same chat in OpenAI’s own shapes, errors and usage included.'],
  ['Sessions', 'Live sessions, and the history of all sessions.'],
  ['Insights', 'What all conversations come to, in numbers.'],
  ['Customers', 'What is kept of one person, and its erasure.'],
  ['Knowledge', 'Documents that the agent answers from.'],
  ['Calls', 'Phone calls: placing, control, supervision and recordings.'],
  ['Campaigns', 'Lists of people who are called.'],
  ['Do not call', 'Numbers that are not called.'],
  ['Trunks', 'SIP trunks and phone numbers.'],
  ['Widget', 'Chat and voice on web pages.'],
  ['Media streams', 'Voice conversations with the agent over a WebSocket.'],
  ['Events', 'What happens now.'],
  ['Webhooks', 'Requests sent at the end of a session and as events happen, and their signature.'],
  ['Tests', 'Test cases, and suites of them.'],
  ['Console', 'Signing in to the web console.'],
  ['Operations', 'Health, readiness and metrics.'],
] as const;

export type Tag = (typeof TAGS)[number][0];
