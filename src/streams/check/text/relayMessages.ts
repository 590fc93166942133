import { z } from 'zod';

import type { StreamMessage } from '../../../dialects/dialect.ts';
import { shown } from '../../../dialects/wire/botRules.ts';
import { parseJson } from '../../../dialects/wire/json.ts';
import type { CheckName, Problem } from '../finding.ts';

/*
 * The messages of ConversationRelay as Twilio documents them. Fields that it does not name are ignored, as Twilio does.
 *
 * See https://www.twilio.com/docs/voice/conversationrelay/websocket-messages
 */

const MAX_LOOPS = 1000;

const languageTag = z.string().regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'is no language tag');
const interruptible = z.union([z.boolean(), z.enum(['none', 'dtmf', 'speech', 'any'])]).optional();
const preemptible = z.boolean().optional();
const flags = { interruptible, preemptible };

const appMessages = {
  text: z.object({
    token: z.string(),
    last: z.boolean().optional(),
    lang: languageTag.optional(),
    ...flags,
  }),
  play: z.object({
    source: z.url({ protocol: /^https?$/ }),
    loop: z.int().min(0).max(MAX_LOOPS).optional(),
    ...flags,
  }),
  sendDigits: z.object({ digits: z.string().regex(/^[0-9*#w]+$/i, 'has other than 0-9, *, # and w') }),
  language: z
    .object({ ttsLanguage: languageTag.optional(), transcriptionLanguage: languageTag.optional() })
    .refine(
      ({ ttsLanguage, transcriptionLanguage }) => (ttsLanguage ?? transcriptionLanguage) !== undefined,
      'has neither ttsLanguage nor transcriptionLanguage',
    ),
  end: z.object({ handoffData: z.string('must be a text, as JSON.stringify makes').optional() }),
};
const APP_CHECKS: Readonly<Record<keyof typeof appMessages, CheckName>> = {
  text: 'tokens',
  play: 'play',
  sendDigits: 'sendDigits',
  language: 'language',
  end: 'hang-up',
};

const gatewayMessages = {
  setup: z.object({
    sessionId: z.string().min(1),
    callSid: z.string().min(1),
    customParameters: z.record(z.string(), z.string()).optional(),
  }),
  prompt: z.object({ voicePrompt: z.string(), lang: languageTag.optional(), last: z.boolean().optional() }),
  dtmf: z.object({ digit: z.string().regex(/^[0-9*#A-D]$/, 'is no key') }),
  interrupt: z.object({
    utteranceUntilInterrupt: z.string(),
    durationUntilInterruptMs: z.coerce.number().min(0).optional(),
  }),
  info: z.object({ name: z.string() }),
  error: z.object({ description: z.string() }),
};
const GATEWAY_CHECKS: Readonly<Record<keyof typeof gatewayMessages, CheckName>> = {
  setup: 'start',
  prompt: 'prompts',
  dtmf: 'keys',
  interrupt: 'interrupt',
  info: 'messages',
  error: 'error',
};

/** @returns What is wrong with a message of an app; undefined when nothing is. */
export const appProblem = problems(appMessages, APP_CHECKS);
/** The same of a gateway's. */
export const gatewayProblem = problems(gatewayMessages, GATEWAY_CHECKS);

function problems<Type extends string>(
  schemas: Readonly<Record<Type, z.ZodType>>,
  checks: Readonly<Record<Type, CheckName>>,
): (message: StreamMessage) => Problem | undefined {
  const isKnown = (type: unknown): type is Type => typeof type === 'string' && Object.hasOwn(schemas, type);
  return (message) => {
    const fields = parseJson(message);
    if (fields === undefined) return { check: 'messages', detail: `${shown(message)} is no JSON object` };
    const { type } = fields;
    if (!isKnown(type)) return { check: 'messages', detail: `there is no message of type ${quoted(type)}` };
    const [issue] = schemas[type].safeParse(fields).error?.issues ?? [];
    if (issue === undefined) return undefined;
    const place = [type, ...issue.path].join('.');
    return { check: checks[type], detail: `${place}: ${issue.message}` };
  };
}

function quoted(value: unknown): string {
  return shown(JSON.stringify(value) ?? 'undefined');
}
