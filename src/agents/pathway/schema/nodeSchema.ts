import { z } from 'zod';
import { chat } from '../../chat/chatConfig.ts';
import { engine } from '../../speech/engineConfig.ts';
import { speech } from '../../speech/speechConfig.ts';
import { turnDetection } from '../../speech/turnDetection.ts';
import { MAX_TRANSFER_TARGETS, transferFields, transferOptionFields } from '../../transferOptions.ts';
import { targetWithTrunk } from '../../transferTarget.ts';
import { ANY_NODE } from './edgeSchema.ts';
import { idSchema, jsonObjectSchema, text } from './fields.ts';

const MAX_PROMPT_CHARACTERS = 20_000;
const MAX_TITLE_CHARACTERS = 200;
const MAX_EXPECTED_ANSWERS = 100;
const MAX_EXPECTED_ANSWER_CHARACTERS = 200;
const MAX_TOOLS_PER_NODE = 100;
const MAX_TRANSFER_TARGET_CHARACTERS = 500;
const MAX_SILENCE_PROMPTS = 10;
const MAX_SILENCE_PROMPT_CHARACTERS = 500;
/** The silence of both sides after which an agent asks again, where neither the node nor the edge names another. */
export const DEFAULT_SILENCE_MS = 8000;
/** Unanswered silences before the agent hangs up. */
export const DEFAULT_HANGUP_AFTER = 3;
/** Longer than most backchannels, shorter than a caller's patience. */
export const DEFAULT_INTERRUPT_AFTER_MS = 400;
/** People leave about 200 ms between turns; below 300 ms the agent often speaks into their words. */
export const DEFAULT_MIN_PAUSE_MS = 300;
/** Pauses to think in the middle of a sentence are rarely longer. */
export const DEFAULT_MAX_PAUSE_MS = 1600;

/** Types whose data has only the common fields. */
const PLAIN_NODE_TYPES = ['start', 'conversation', 'say', 'condition', 'end'] as const;
export const NODE_TYPES = [...PLAIN_NODE_TYPES, 'tool', 'knowledge', 'transfer'] as const;

const title = text(1, MAX_TITLE_CHARACTERS).meta({
  description: 'Name of the node in the editor, in events and for the model.',
  examples: ['Ask for the order number'],
});
const prompt = text(0, MAX_PROMPT_CHARACTERS).meta({
  description:
    'Instructions for the agent at this node; a Liquid template with the variables. A say node speaks the rendered text itself.',
  examples: ['Ask {{ customerName }} for the order number and confirm it digit by digit.'],
});
const tools = z
  .array(idSchema)
  .max(MAX_TOOLS_PER_NODE)
  .meta({
    description:
      "Tools that the model may call at this node: ids of the project's tools, or names of built-in tools such as end_call. Not for say and condition nodes, at which no model speaks.",
    examples: [['end_call']],
  });
const oneTool = z
  .array(idSchema)
  .length(1)
  .meta({
    description:
      'The tool that the node runs: the id of a tool of the project, or the name of a built-in tool.',
    examples: [['set_variable']],
  });
const expectedAnswers = z
  .array(text(1, MAX_EXPECTED_ANSWER_CHARACTERS))
  .max(MAX_EXPECTED_ANSWERS)
  .meta({
    description:
      'Phrases that a caller may say at this node: hints for speech recognition and for the choice of the next edge.',
    examples: [['yes', 'no', 'I do not know']],
  });
const interruption = z.enum(['on', 'off']).meta({
  description: 'On the phone: whether the caller can interrupt the agent. Default: on.',
  examples: ['off'],
});
const interruptAfterMs = z
  .int()
  .min(100)
  .max(5000)
  .meta({
    description: `On the phone: duration of the caller’s speech, in milliseconds, that interrupts the agent. Default: ${DEFAULT_INTERRUPT_AFTER_MS}.`,
    examples: [600],
  });
const turn = z
  .strictObject({
    minPauseMs: z.int().min(100).max(5000).optional(),
    maxPauseMs: z.int().min(200).max(10_000).optional(),
  })
  .refine(
    ({ minPauseMs, maxPauseMs }) => (minPauseMs ?? 0) <= (maxPauseMs ?? Number.POSITIVE_INFINITY),
    'maxPauseMs must not be below minPauseMs',
  )
  .meta({
    description: `On the phone: limits, in milliseconds, of the pause that ends the caller’s turn; within them it adapts to the caller. Default: ${DEFAULT_MIN_PAUSE_MS} to ${DEFAULT_MAX_PAUSE_MS}.`,
    examples: [{ maxPauseMs: 3000 }],
  });
const silence = z
  .strictObject({
    afterMs: z.int().min(1000).max(600_000).optional(),
    prompts: z.array(text(1, MAX_SILENCE_PROMPT_CHARACTERS)).max(MAX_SILENCE_PROMPTS).optional(),
    hangupAfter: z.int().min(0).max(20).optional(),
  })
  .meta({
    description: `On the phone: what happens when the caller is silent. After each afterMs (default ${DEFAULT_SILENCE_MS}) the next prompt is spoken (default: a short question in the language of the conversation). After hangupAfter (default ${DEFAULT_HANGUP_AFTER}; 0 means never) unanswered silences the agent hangs up, unless an edge for a longer silence is still to be taken. Edges for silence have their own time, which prompts do not restart.`,
    examples: [{ afterMs: 6000, prompts: ['Are you still there?'], hangupAfter: 2 }],
  });
const returns = z.boolean().meta({
  description:
    'For a node that a global edge leads to: on the person’s next turn the conversation is where it was. Default false.',
});
const toolArguments = jsonObjectSchema.meta({
  description:
    'Arguments of the tool; every string in them, at any depth, is a template. One that is a single variable, such as {{ age }}, keeps the type of its value.',
  examples: [{ orderNumber: '{{ orderNumber }}' }],
});
const query = text(1, MAX_PROMPT_CHARACTERS).meta({
  description: "The search query; a template. Default: the caller's last words.",
  examples: ['opening hours in {{ city }}'],
});
const topK = z
  .int()
  .min(1)
  .max(50)
  .meta({ description: 'Maximum number of chunks.', examples: [5] });
const scoreThreshold = z
  .number()
  .min(0)
  .max(1)
  .meta({ description: 'Minimum score of a chunk.', examples: [0.5] });
const transferTarget = targetWithTrunk(
  text(1, MAX_TRANSFER_TARGET_CHARACTERS).refine(
    (target) => isTemplate(target) || isTransferTarget(target),
    '{field} must be a phone number such as +886212345678, a SIP URI such as sip:desk@example.com, or a template',
  ),
).meta({
  description:
    'Destination of the transfer: an E.164 or local number, or a SIP URI; a template. Also with the trunk that calls it.',
  examples: ['+886212345678', 'sip:{{ department }}@pbx.example.com'],
});
const transferTargetList = z
  .array(transferTarget)
  .min(1)
  .max(MAX_TRANSFER_TARGETS)
  .meta({
    description: 'Several destinations, in place of `to`: in order, or at once by `strategy`.',
    examples: [['+886212345678', 'sip:desk@pbx.example.com']],
  });
const position = z
  .strictObject({ x: z.number(), y: z.number() })
  .meta({ description: 'Position of the node on the canvas.', examples: [{ x: 120, y: 80 }] });

const common = {
  title,
  prompt: prompt.default(''),
  expectedAnswers: expectedAnswers.optional(),
  interruption: interruption.optional(),
  interruptAfterMs: interruptAfterMs.optional(),
  turn: turn.optional(),
  speech: speech.optional(),
  turnDetection: turnDetection.optional(),
  chat: chat.optional(),
  engine: engine.nullable().optional(),
  silence: silence.optional(),
  returns: returns.optional(),
};
const anyTools = { tools: tools.default([]) };

const plainData = z.strictObject({ ...common, ...anyTools });
const toolData = z.strictObject({ ...common, tools: oneTool, arguments: toolArguments.optional() });
const knowledgeData = z.strictObject({
  ...common,
  ...anyTools,
  query: query.optional(),
  topK: topK.optional(),
  scoreThreshold: scoreThreshold.optional(),
});
const transferData = z
  .strictObject({
    ...common,
    ...anyTools,
    to: transferTarget.optional(),
    targets: transferTargetList.optional(),
    ...transferOptionFields,
  })
  .refine(({ to, targets }) => (to === undefined) !== (targets === undefined), {
    path: ['to'],
    message: 'a transfer node needs either to or targets',
  });

const nodeId = idSchema.refine((id) => id !== ANY_NODE, '{field} must not be *, which means every node');

/** One step of a pathway. The fields of `data` depend on `type`. */
export const nodeSchema = nodeOf(nodeId).meta({ id: 'PathwayNode', description: 'One step of a pathway.' });

/** A new node; without an `id` the service generates one. */
export const nodeInputSchema = nodeOf(nodeId.optional()).meta({
  id: 'NewPathwayNode',
  description: 'A new node; without an id the service generates one.',
});

/**
 * Only the supplied fields change. `data.title`, `data.prompt` and `data.tools` may be given inside `data`, or at the
 * top level under these dotted names. Null removes an optional field.
 */
export const nodePatchSchema = z
  .strictObject({
    data: z
      .strictObject({
        title,
        prompt,
        tools,
        expectedAnswers: expectedAnswers.nullable(),
        interruption: interruption.nullable(),
        interruptAfterMs: interruptAfterMs.nullable(),
        turn: turn.nullable(),
        speech: speech.nullable(),
        turnDetection: turnDetection.nullable(),
        chat: chat.nullable(),
        engine: engine.nullable(),
        silence: silence.nullable(),
        returns: returns.nullable(),
        arguments: toolArguments.nullable(),
        query: query.nullable(),
        topK: topK.nullable(),
        scoreThreshold: scoreThreshold.nullable(),
        to: transferTarget.nullable(),
        targets: transferTargetList.nullable(),
        mode: transferFields.mode.nullable(),
        announce: transferFields.announce.nullable(),
        acceptBy: transferFields.acceptBy.nullable(),
        acceptDigit: transferFields.acceptDigit.nullable(),
        timeoutSeconds: transferFields.timeoutSeconds.nullable(),
        strategy: transferFields.strategy.nullable(),
        holdMusic: transferFields.holdMusic.nullable(),
        afterJoin: transferFields.afterJoin.nullable(),
        trunkId: transferFields.trunkId.nullable(),
      })
      .partial()
      .optional(),
    'data.title': title.optional(),
    'data.prompt': prompt.optional(),
    'data.tools': tools.optional(),
    position: position.optional(),
  })
  .superRefine(refuseContradictions)
  .meta({
    id: 'PathwayNodePatch',
    description: 'Only the supplied fields change; null removes an optional field of data.',
    examples: [
      { data: { title: 'Greeting' }, position: { x: 0, y: 40 } },
      { 'data.prompt': 'Greet the caller.' },
    ],
  });

export type PathwayNode = z.output<typeof nodeSchema>;
export type NodeInput = z.output<typeof nodeInputSchema>;
export type NodePatch = z.output<typeof nodePatchSchema>;

/** True for a phone number (digits with an optional plus) or a SIP URI. */
function isTransferTarget(target: string): boolean {
  return /^\+?\d[\d ().-]{1,30}$/.test(target) || /^sips?:[^\s<>"@]+(?:@[^\s<>"@]+)?$/i.test(target);
}

function isTemplate(target: string): boolean {
  return /\{\{|\{%/.test(target);
}

/** A discriminated union, so that a wrong field is reported for the node's own type. */
function nodeOf<Id extends z.ZodType>(id: Id) {
  const place = { id, position: position.default({ x: 0, y: 0 }) };
  return z.discriminatedUnion('type', [
    z.strictObject({ ...place, type: z.enum(PLAIN_NODE_TYPES), data: plainData }),
    z.strictObject({ ...place, type: z.literal('tool'), data: toolData }),
    z.strictObject({ ...place, type: z.literal('knowledge'), data: knowledgeData }),
    z.strictObject({ ...place, type: z.literal('transfer'), data: transferData }),
  ]);
}

function refuseContradictions(
  patch: { readonly data?: Readonly<Record<string, unknown>> | undefined; readonly [key: string]: unknown },
  context: z.core.$RefinementCtx,
): void {
  for (const key of ['title', 'prompt', 'tools']) {
    const [nested, dotted] = [patch.data?.[key], patch[`data.${key}`]];
    if (nested === undefined || dotted === undefined) continue;
    if (JSON.stringify(nested) === JSON.stringify(dotted)) continue;
    context.addIssue({
      code: 'custom',
      path: [`data.${key}`],
      message: `{field} differs from ${key} inside data; give one of them`,
    });
  }
}
