import { z } from 'zod';
import { checkExpression } from '../pathway/expressions.ts';
import { anyJson, assertion, MAX_TEXT_CHARACTERS } from './assertion.ts';

const MAX_WAIT_MS = 600_000;
const MAX_NAME_CHARACTERS = 64;

const text = z.string().min(1).max(MAX_TEXT_CHARACTERS);
const milliseconds = z.int().min(0).max(MAX_WAIT_MS);

/** What the caller does, or what must hold between two turns. */
const testTurn = z.union([
  z.strictObject({ say: text }),
  z.strictObject({ dtmf: z.string().regex(/^[0-9A-D*#]{1,64}$/, 'must be digits 0-9, A-D, * and #') }),
  z.strictObject({ waitMs: milliseconds }),
  z
    .strictObject({ interrupt: z.strictObject({ afterMs: milliseconds, say: text }) })
    .describe('Speaks into the agent’s last answer, this long after its beginning.'),
  z.strictObject({ silenceMs: milliseconds }).describe('Says nothing for this long.'),
  z.strictObject({ hangup: z.literal(true) }),
  z
    .strictObject({ expect: assertion })
    .describe('Must hold of the agent’s last answer, and of the session as it is then.'),
]);

const toolMock = z
  .strictObject({
    name: z.string().min(1).max(MAX_NAME_CHARACTERS),
    when: z
      .record(z.string(), z.unknown())
      .superRefine((expression, context) => {
        for (const { path, message } of checkExpression(expression))
          context.addIssue({ code: 'custom', path: path.split('/').slice(1), message });
      })
      .optional()
      .describe('JSONLogic over the arguments; the first mock of the tool that holds answers.'),
    result: anyJson.optional(),
    error: z.string().min(1).max(2000).optional(),
    delayMs: z.int().min(0).max(60_000).optional(),
  })
  .refine(({ result, error }) => result === undefined || error === undefined, {
    path: ['error'],
    message: 'result and error exclude each other: give one of them',
  });

const persona = z.strictObject({
  prompt: text,
  goal: z.string().min(1).max(2000).optional(),
  traits: z.array(z.string().min(1).max(200)).max(20).optional(),
  facts: z.record(z.string(), z.unknown()).optional().describe('What the caller knows, by name.'),
  hangUpWhen: z.string().min(1).max(2000).optional(),
  maxTurns: z.int().min(1).max(100).optional().describe('Default 20.'),
  maxSeconds: z.int().min(1).max(600).optional().describe('Default 300.'),
});

const phone = z.strictObject({
  codec: z.enum(['PCMU', 'PCMA', 'G722', 'opus']).optional().describe('Default PCMU.'),
  lossPercent: z.number().min(0).max(50).optional().describe('Of the caller’s packets.'),
  jitterMs: z.int().min(0).max(500).optional(),
  noise: z.enum(['none', 'street', 'office', 'babble']).optional(),
  snrDb: z.number().min(-10).max(60).optional().describe('Of the caller’s voice over the noise; default 15.'),
  voice: z.enum(['rms', 'slt', 'kal16']).optional().describe('The caller’s voice; default rms.'),
});

const fields = {
  name: z.string().min(1).max(128).meta({ example: 'Books an appointment' }),
  description: z.string().max(4000).nullable(),
  channel: z.enum(['chat', 'phone']),
  persona: persona.nullable().describe('Plays the caller by a chat model if there are no turns.'),
  variables: z.record(z.string(), z.unknown()).nullable(),
  turns: z.array(testTurn).max(200).nullable().describe('What the caller does, in order.'),
  toolMocks: z.array(toolMock).max(100).describe('Answers of tools; `beforeStartConfig` names that request.'),
  allowRealTools: z
    .boolean()
    .describe('Whether tools without a mock, and beforeStartConfig, are really called.'),
  phone: phone.nullable().describe('The caller’s line; for phone cases.'),
  assertions: z.array(assertion).max(100).describe('Must hold at the end.'),
};

export const testCaseInput = z.strictObject({
  ...fields,
  description: fields.description.default(null),
  channel: fields.channel.default('chat'),
  persona: fields.persona.default(null),
  variables: fields.variables.default(null),
  turns: fields.turns.default(null),
  toolMocks: fields.toolMocks.default([]),
  allowRealTools: fields.allowRealTools.default(false),
  phone: fields.phone.default(null),
  assertions: fields.assertions.default([]),
});
export const testCasePatch = z.strictObject(fields).partial();
export const testCase = z
  .object({
    id: z.uuid(),
    projectId: z.uuid(),
    ...fields,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'TestCase' });

export type TestCaseInput = z.output<typeof testCaseInput>;
export type TestCasePatch = z.output<typeof testCasePatch>;
export type TestCase = z.infer<typeof testCase>;
export type TestTurn = z.infer<typeof testTurn>;
export type ToolMock = z.infer<typeof toolMock>;
export type Persona = z.infer<typeof persona>;
