import { omitUndefined } from '../../base/values/omitUndefined.ts';
import { type Remedy, without } from '../../models/chat/refusals.ts';
import { type MessagesBody, withInstruction } from './messagesBody.ts';

/** Fields that no request goes without. */
export const REQUIRED_FIELDS: readonly string[] = [
  ...['model', 'max_tokens', 'stream', 'messages', 'system', 'tools'],
];

/** Lists the features that some models and gateways refuse, and how a request does without each. */
export const REMEDIES: readonly Remedy<MessagesBody>[] = [
  {
    name: 'forced tool_choice',
    refusal: /tool_choice|forces? tool/,
    isIn: ({ tool_choice: choice }) => choice?.type === 'any' || choice?.type === 'tool',
    apply: ({ tool_choice: { name, ...choice } = { type: 'any' }, ...body }) =>
      withInstruction(
        { ...body, tool_choice: { ...choice, type: 'auto' } },
        name === undefined ? 'Answer by calling a tool.' : `Answer by calling the tool ${name}.`,
      ),
  },
  {
    name: 'output_config.format',
    refusal: /output_config|output_format|schema|structured/i,
    ofRequest: /format\.schema|schema is too/i,
    isGuessed: true,
    isIn: ({ output_config: config }) => config?.format !== undefined,
    apply: ({ output_config: { format, ...config } = {}, ...body }) =>
      withInstruction(
        { ...body, ...configOf(config) },
        `Answer with JSON of this schema, and nothing else: ${JSON.stringify(format?.schema)}`,
      ),
  },
  {
    name: 'output_config.effort',
    refusal: /output_config|effort/,
    isIn: ({ output_config: config }) => config?.effort !== undefined,
    apply: ({ output_config: { effort: _, ...config } = {}, ...body }) => ({ ...body, ...configOf(config) }),
  },
  without('temperature', { isGuessed: true }),
  {
    name: 'cache_control',
    refusal: /cache_control/,
    isIn: ({ system = [] }) => system.some(({ cache_control: cache }) => cache !== undefined),
    apply: ({ system = [], ...body }) => ({
      ...body,
      system: system.map(({ cache_control: _, ...block }) => block),
    }),
  },
];

function configOf(config: NonNullable<MessagesBody['output_config']>) {
  return omitUndefined({ output_config: Object.keys(config).length > 0 ? config : undefined });
}
