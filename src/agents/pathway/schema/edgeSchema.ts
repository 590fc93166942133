import { z } from 'zod';
import { TRANSFER_OUTCOMES } from '../../transferOptions.ts';
import { idSchema, refuseUnstorable, text } from './fields.ts';

const MAX_LABEL_CHARACTERS = 200;
const MAX_SENTENCE_CHARACTERS = 2_000;
const MAX_DIGITS = 32;
/** Ten minutes. */
const MAX_SILENCE_MS = 600_000;
const MAX_PRIORITY = 1_000_000;

/** The source of a global edge, which leaves every node. */
export const ANY_NODE = '*';

const sentence = text(1, MAX_SENTENCE_CHARACTERS)
  .refine((words) => words === '' || words.trim() !== '', '{field} must say something, or be null')
  .meta({
    description: 'A sentence that the model evaluates.',
    examples: ['The caller wants to speak to a person.'],
  });

/** An event that takes the edge at once. */
const eventConditionSchema = z
  .discriminatedUnion('event', [
    z.strictObject({
      event: z.literal('dtmf'),
      digits: z
        .string()
        .regex(/^[0-9A-D*#]+$/, '{field} must be DTMF digits: 0 to 9, A to D, * and #')
        .max(MAX_DIGITS)
        .optional()
        .meta({ description: 'The DTMF digits, in order; default: any digit.', examples: ['1', '42#'] }),
    }),
    z.strictObject({
      event: z.literal('silence'),
      afterMs: z
        .int()
        .min(1)
        .max(MAX_SILENCE_MS)
        .optional()
        .meta({
          description:
            "Milliseconds of silence, reprompts included. Default: the node's silence setting. The shortest one is taken.",
          examples: [20_000],
        }),
    }),
    z.strictObject({
      event: z.literal('tool_result'),
      ok: z
        .boolean()
        .optional()
        .meta({ description: 'True for success, false for failure; default: either.' }),
      tool: idSchema.optional().meta({ description: 'The tool; default: any.', examples: ['set_variable'] }),
    }),
    z.strictObject({ event: z.literal('not_understood') }),
    z.strictObject({ event: z.literal('opt_out') }),
    z.strictObject({ event: z.literal('voicemail') }),
    z.strictObject({ event: z.literal('screening') }),
    z.strictObject({
      event: z.literal('transfer'),
      outcome: z
        .enum(TRANSFER_OUTCOMES)
        .optional()
        .meta({
          description: 'How a transfer ended that did not join its parties; default: any of them.',
          examples: ['busy'],
        }),
    }),
  ])
  .meta({
    description:
      'The event that takes the edge: DTMF digits, silence, speech that was not understood three times in a row, a person on the phone who wants no more calls, a tool result, an answering machine, a call screening service that asks who is calling, or a transfer that has returned the caller.',
    examples: [
      { event: 'dtmf', digits: '1' },
      { event: 'silence', afterMs: 8000 },
    ],
  });

/** A JSONLogic expression: one operator and its arguments. `event` is not an operator; it marks an event condition. */
const expression = z
  .looseObject({ event: z.never().optional() })
  .superRefine(refuseUnstorable)
  .meta({
    description: 'A JSONLogic expression over the variables.',
    examples: [{ '>=': [{ var: 'age' }, 18] }],
  });

/** When an edge is taken: always (null), when the model agrees (a string), on an event, or by an expression. */
const conditionSchema = z.union([sentence, z.null(), eventConditionSchema, expression]).meta({
  description:
    'Null: always. A string: a sentence that the model evaluates. An object: an event or a JSONLogic expression. An event that happened comes first, then null, then expressions, then sentences, in every execution mode.',
});

const label = text(0, MAX_LABEL_CHARACTERS).meta({ description: 'Shown in the editor.', examples: ['yes'] });
const priority = z
  .int()
  .min(-MAX_PRIORITY)
  .max(MAX_PRIORITY)
  .meta({
    description:
      'Among conditions of the same kind, edges with a higher priority are evaluated first, equal ones in the order of the graph. Default 0.',
    examples: [10],
  });
const fallback = z.boolean().meta({ description: 'Taken when no other edge holds. Default false.' });

const edgeData = z.strictObject({
  label: label.default(''),
  condition: conditionSchema.default(null),
  priority: priority.default(0),
  fallback: fallback.default(false),
});
const source = idSchema.meta({
  description:
    'Id of a node; * makes the edge a global one, which leaves every node and goes before the edges of the node. A global edge needs a condition.',
  examples: ['greeting', ANY_NODE],
});
const ends = { source, target: idSchema, data: edgeData.prefault({}) };

/** A transition from one node to another. */
export const edgeSchema = z.strictObject({ id: idSchema, ...ends }).meta({
  id: 'PathwayEdge',
  description: 'A transition from one node to another.',
  examples: [
    {
      id: 'e1',
      source: 'greeting',
      target: 'goodbye',
      data: { label: 'done', condition: 'The caller is done.' },
    },
  ],
});

/** A new edge; without an `id` the service generates one. */
export const edgeInputSchema = z.strictObject({ id: idSchema.optional(), ...ends }).meta({
  id: 'NewPathwayEdge',
  description: 'A new edge; without an id the service generates one.',
});

/** Only the supplied fields change. Null resets priority and fallback to their defaults. */
export const edgePatchSchema = z
  .strictObject({
    source,
    target: idSchema,
    data: z
      .strictObject({
        label,
        condition: conditionSchema,
        priority: priority.nullable(),
        fallback: fallback.nullable(),
      })
      .partial(),
  })
  .partial()
  .meta({
    id: 'PathwayEdgePatch',
    description:
      'Only the supplied fields change. A null condition makes the edge unconditional; null resets priority and fallback to their defaults.',
    examples: [{ data: { condition: { event: 'dtmf', digits: '1' } } }],
  });

export type EventCondition = z.output<typeof eventConditionSchema>;
export type Expression = z.output<typeof expression>;
export type Condition = z.output<typeof conditionSchema>;
export type PathwayEdge = z.output<typeof edgeSchema>;
export type EdgeInput = z.output<typeof edgeInputSchema>;
export type EdgePatch = z.output<typeof edgePatchSchema>;

export function isEventCondition(condition: Condition): condition is EventCondition {
  return typeof condition === 'object' && condition !== null && condition.event !== undefined;
}

export function isExpression(condition: Condition): condition is Expression {
  return typeof condition === 'object' && condition !== null && condition.event === undefined;
}
