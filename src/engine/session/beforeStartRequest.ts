import { z } from 'zod';
import type { AgentConfig } from '../../agents/agentConfig.ts';
import { invalid } from '../../base/errors.ts';
import { zodDetails } from '../../base/validation.ts';
import type { GuardedHttpClient } from '../../http/client.ts';
import { withTraceparent } from '../../http/headers.ts';
import { responseText } from '../../http/response.ts';
import type { Session } from './session.ts';

/** A caller hears ringing meanwhile. */
const DEFAULT_TIMEOUT_MS = 1_500;
const MAX_RESPONSE_BYTES = 262_144;
const MAX_GREETING_CHARACTERS = 2_000;
const MAX_NODE_ID_CHARACTERS = 128;
/** Decline. @see RFC 3261 section 21.6.2 */
const DEFAULT_REJECT_STATUS = 603;

const answerSchema = z.strictObject({
  variables: z.record(z.string().min(1).max(64), z.json()).nullish(),
  greeting: z.string().trim().min(1).max(MAX_GREETING_CHARACTERS).nullish(),
  language: z
    .string()
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, '{field} must be a language tag such as en or zh-TW')
    .nullish(),
  nodeId: z.string().min(1).max(MAX_NODE_ID_CHARACTERS).nullish(),
  reject: z.strictObject({ status: z.int().min(400).max(699).default(DEFAULT_REJECT_STATUS) }).nullish(),
});

/** What the customer's endpoint answers; all fields are optional. */
export type BeforeStartAnswer = z.output<typeof answerSchema>;

/** @throws {CallwayError} When the endpoint fails, is late, or answers something else. */
export async function askBeforeStart(
  client: GuardedHttpClient,
  config: NonNullable<AgentConfig['beforeStartConfig']>,
  { projectId, sessionId, channel, state: { variables, call } }: Session,
  signal: AbortSignal,
  traceparent: string | undefined,
): Promise<BeforeStartAnswer> {
  const answer = await client.request({
    method: 'POST',
    url: config.url,
    headers: withTraceparent(
      [...(config.headers ?? []), { key: 'content-type', value: 'application/json' }],
      traceparent,
    ),
    body: JSON.stringify({ projectId, sessionId, channel, variables, call }),
    timeoutMs: config.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    signal,
  });
  if (answer.status < 200 || answer.status > 299)
    throw invalid('bad_status', `It answered with HTTP ${answer.status}`);
  const parsed = answerSchema.safeParse(parse(responseText(answer)));
  if (parsed.success) return parsed.data;
  const problems = zodDetails(parsed.error).map(({ message }) => message);
  const expected = 'variables, greeting, language, nodeId and reject, all optional';
  throw invalid('bad_answer', `It must answer with a JSON object of ${expected}: ${problems.join('; ')}`);
}

/** Parses the body; an empty body is an empty answer. */
function parse(text: string): unknown {
  try {
    return text.trim() === '' ? {} : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
