import type { preValidationHookHandler } from 'fastify';
import { z } from 'zod';

import { invalid } from '../../base/errors.ts';
import { PASSED_THROUGH } from '../../models/ports/chatModel.ts';
import { LEGACY_PATHS, onBothPaths } from '../legacyPaths.ts';
import { OPENAI_PREFIX, openAiErrors } from '../openAiErrors.ts';
import type { App, HttpDeps } from '../ports.ts';
import { agentVersionHeaders, SESSION_HEADER, sendAsBytes } from '../requestHeaders.ts';
import { about, errors, projectParams } from '../schemas.ts';
import { answerChat, type ChatFlavor } from './answerChat.ts';
import { completion, completionChunk } from './completionSchemas.ts';
import { modeOfModel } from './models.ts';
import { chatBody, MAX_MESSAGES } from './requestBody.ts';

/** Room for a long conversation that the client sends again with each request. */
const CHAT_BODY_LIMIT_BYTES = 4 * 1_048_576;

const DESCRIPTION = [
  'OpenAI’s chat completions on a session of the agent. The header `X-Session-ID`, else `session_id`, names the session; its id is in the header and the body of the response.',
  'A request that names none continues the session of the same key whose conversation its messages repeat, up to the last assistant message. `system` messages, whitespace around a text and its division into parts do not count; an answer that was interrupted may be shortened. A request that continues none begins a session. Its earlier user messages are walked through the pathway first: the model is asked which edges they took, and for variables that an edge evaluates, but not for words; fixed texts are not said, tools are not run.',
  'Only the new messages are answered. `system` and `developer` messages are instructions for this request and are not stored; where the last message is one and nothing else is new, the agent speaks at its node, as at the start of a call. A user message while tool calls are pending drops these calls; results must come for all pending calls at once.',
  `These fields are passed to the model for each answer: \`temperature\`, \`max_tokens\`, \`max_completion_tokens\`, \`response_format\`, \`parallel_tool_calls\` (if there are tools), \`tool_choice\` (for the caller’s tools, in the first answer) and ${PASSED_THROUGH.map((name) => `\`${name}\``).join(', ')}. They do not affect the agent’s internal model calls, such as the choice of the next node. \`model\` and unknown fields are accepted and ignored.`,
  'Idempotency-Key is not supported, since a stream would have to be stored.',
  'A widget’s token sends one user message of at most 4,000 characters, `stream` and `session_id`, and continues only sessions that were begun with it: else 404 `session_not_found`.',
].join('\n\n');

const OPENAI_DESCRIPTION = [
  'The same turns as `POST /v1/projects/{projectId}/chat/completions`, for clients that expect OpenAI’s own shapes: errors are `{error: {message, type, code, param}}`, a failure of the model is 502 `model_failed`, and `usage` has the tokens of all model calls of the turn.',
  '`model` selects the execution mode of a new session: `callway-smart`, `callway-balance` or `callway-turbo`; any other name is taken as `callway`, the agent’s own mode.',
].join('\n\n');

const headers = agentVersionHeaders.extend({
  [SESSION_HEADER]: z.string().optional().describe('The session; overrides `session_id` in the body.'),
});

const ANSWER = {
  200: {
    description: 'The answer; with `stream`, a stream of chunks.',
    content: {
      'application/json': { schema: completion },
      'text/event-stream': { schema: completionChunk },
    },
  },
};

/** How the platform's own chat routes differ from those under {@link OPENAI_PREFIX}. */
const PLATFORM: ChatFlavor = {
  reportsUsage: false,
  namesModelFailure: true,
  executionMode: () => undefined,
};
const OPENAI: ChatFlavor = {
  reportsUsage: true,
  namesModelFailure: false,
  executionMode: ({ model }) => modeOfModel(model),
};

/** Refuses too many messages before each of them is validated. */
const refuseManyMessages: preValidationHookHandler = ({ body }, _reply, done) => {
  const messages = typeof body === 'object' && body !== null && 'messages' in body ? body.messages : [];
  if (!Array.isArray(messages) || messages.length <= MAX_MESSAGES) return done();
  const message = `messages must have at most ${MAX_MESSAGES} items; send the last ones, or only the new one`;
  done(invalid('invalid_request', message, [{ path: '/messages', message }]));
};

export function chatCompletionRoutes(app: App, deps: HttpDeps): void {
  const common = { bodyLimit: CHAT_BODY_LIMIT_BYTES, preValidation: refuseManyMessages, onSend: sendAsBytes };
  const input = { params: projectParams, headers, body: chatBody };

  onBothPaths(LEGACY_PATHS.chat, ({ url, config: { access, ...config }, mark }) => {
    const schema = {
      ...about('Chat', 'Answer a chat', DESCRIPTION),
      ...mark,
      ...input,
      response: { ...ANSWER, ...errors('body', 409) },
    };
    const isOpen = access.kind === 'project' ? { ...access, widget: true as const } : access;
    const routeConfig = { ...config, access: isOpen, isLong: true };
    app.post(url, { ...common, config: routeConfig, schema }, async (request, reply) => {
      const { params, body } = request;
      return await answerChat(deps, PLATFORM, { request, reply, projectId: params.projectId, body });
    });
  });

  app.post(
    `${OPENAI_PREFIX}/chat/completions`,
    {
      ...common,
      config: { access: { kind: 'project', scope: 'write' }, isLong: true },
      schema: {
        ...about('OpenAI', 'Create a chat completion', OPENAI_DESCRIPTION),
        ...input,
        response: { ...ANSWER, ...openAiErrors(409, 413, 415, 502) },
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      return await answerChat(deps, OPENAI, { request, reply, projectId: params.projectId, body });
    },
  );
}
