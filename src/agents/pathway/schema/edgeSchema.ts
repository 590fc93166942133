import { z } from 'zod';
import { idSchema, refuseUnkeepable, text } from './fields.ts';

const MAX_LABEL_CHARACTERS = 200;
const MAX_SENTENCE_CHARACTERS = 2_000;
const MAX_DIGITS = 32;
/** A caller who is silent for ten minutes has left. */
const MAX_SILENCE_MS = 600_000;
const MAX_PRIORITY = 1_000_000;

const sentence = text(1, MAX_SENTENCE_CHARACTERS)
  .refine((words) => words === '' || words.trim() !== '', '{field} must say something, or be null')
  .meta({
    description: 'A sentence for the model to judge.',
    examples: ['The caller wants to speak to a person.'],
  });

/** What may happen on a call, for an edge to be taken at once. */
export const eventConditionSchema = z
  .discriminatedUnion('event', [
    z.strictObject({
      event: z.literal('dtmf'),
      digits: z
        .string()
        .regex(/^[0-9A-D*#]+$/, '{field} must be keys of a telephone: 0 to 9, A to D, * and #')
        .max(MAX_DIGITS)
        .optional()
        .meta({ description: 'The keys, in order; without them any key will do.', examples: ['1', '42#'] }),
    }),
    z.strictObject({
      event: z.literal('silence'),
      afterMs: z
        .int()
        .min(1)
        .max(MAX_SILENCE_MS)
        .optional()
        .meta({ description: "Milliseconds; without it the agent's own setting holds.", examples: [8000] }),
    }),
    z.strictObject({
      event: z.literal('tool_result'),
      ok: z
        .boolean()
        .optional()
        .meta({ description: 'Whether the tool must have succeeded or failed; without it, either.' }),
      tool: idSchema
        .optional()
        .meta({ description: 'Which tool; without it, any.', examples: ['set_variable'] }),
    }),
    z.strictObject({ event: z.literal('voicemail') }),
  ])
  .meta({
    description: 'Taken when this happens: keys, silence, a tool result, or an answering machine.',
    examples: [
      { event: 'dtmf', digits: '1' },
      { event: 'silence', afterMs: 8000 },
    ],
  });

/** A JSONLogic expression: one operator and its arguments. `event` is no operator: it marks an event condition. */
const expression = z
  .looseObject({ event: z.never().optional() })
  .superRefine(refuseUnkeepable)
  .meta({
    description: 'A JSONLogic expression over the variables.',
    examples: [{ '>=': [{ var: 'age' }, 18] }],
  });

/** When an edge may be taken: null is always, a string is for the model, an object an event or an expression. */
export const conditionSchema = z.union([sentence, z.null(), eventConditionSchema, expression]).meta({
  description:
    'Null: always. A string: a sentence for the model. An object: an event or a JSONLogic expression.',
});

const label = text(0, MAX_LABEL_CHARACTERS).meta({ description: 'Shown in the editor.', examples: ['yes'] });
const priority = z
  .int()
  .min(-MAX_PRIORITY)
  .max(MAX_PRIORITY)
  .meta({
    description: 'Higher is looked at first; equals in the order of the graph. Default 0.',
    examples: [10],
  });
const fallback = z
  .boolean()
  .meta({ description: 'Taken when nothing else matches after the model answered. Default false.' });

const edgeData = z.strictObject({
  label: label.default(''),
  condition: conditionSchema.default(null),
  priority: priority.default(0),
  fallback: fallback.default(false),
});
const ends = { source: idSchema, target: idSchema, data: edgeData.prefault({}) };

/** A way from one node to another. */
export const edgeSchema = z.strictObject({ id: idSchema, ...ends }).meta({
  id: 'PathwayEdge',
  description: 'A way from one node to another.',
  examples: [
    {
      id: 'e1',
      source: 'greeting',
      target: 'goodbye',
      data: { label: 'done', condition: 'The caller is done.' },
    },
  ],
});

/** An edge to be added; without an `id` the service makes one. */
export const edgeInputSchema = z.strictObject({ id: idSchema.optional(), ...ends }).meta({
  id: 'NewPathwayEdge',
  description: 'An edge to be added; without an id the service makes one.',
});

/** What may change of an edge: only supplied keys do. Null puts priority and fallback back to their defaults. */
export const edgePatchSchema = z
  .strictObject({
    source: idSchema,
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
      'Only supplied keys change; a null condition makes the edge unconditional, a null priority or fallback the default.',
    examples: [{ data: { condition: { event: 'dtmf', digits: '1' } } }],
  });

export type EventCondition = z.output<typeof eventConditionSchema>;
export type Expression = z.output<typeof expression>;
export type Condition = z.output<typeof conditionSchema>;
export type PathwayEdge = z.output<typeof edgeSchema>;
export type EdgeInput = z.output<typeof edgeInputSchema>;
export type EdgePatch = z.output<typeof edgePatchSchema>;

/** Tells an event condition from the other kinds. */
export function isEventCondition(condition: Condition): condition is EventCondition {
  return typeof condition === 'object' && condition !== null && condition.event !== undefined;
}

/** Tells a JSONLogic expression from the other kinds. */
export function isExpression(condition: Condition): condition is Expression {
  return typeof condition === 'object' && condition !== null && condition.event === undefined;
}
