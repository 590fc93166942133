import { z } from 'zod';
import { MAX_TEMPLATE_CHARACTERS } from './pathway/liquid.ts';

const MOST_DISCLOSURES = 10;
const LONGEST_SECONDS = 600;

const disclosure = z.strictObject({
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be letters, digits, _ and -, at most 64')
    .describe('Names it in the history and among the violations of calls.'),
  text: z
    .string()
    .trim()
    .min(1)
    .max(MAX_TEMPLATE_CHARACTERS)
    .describe('What the agent says; a Liquid template with the variables.'),
  withinSeconds: z
    .int()
    .min(1)
    .max(LONGEST_SECONDS)
    .describe(
      'The person must have heard its last word so long after the answer; the message on an answering machine must have it so long after its beginning.',
    ),
  direction: z.enum(['outbound', 'inbound', 'both']).describe('The calls that it is said in.'),
  machines: z
    .boolean()
    .optional()
    .describe(
      'Default: true. Whether answering machines get it too, before the message that is left. Without, it is left out or cut once a machine is detected.',
    ),
});

export const disclosures = z
  .array(disclosure)
  .max(MOST_DISCLOSURES)
  .refine((list) => new Set(list.map(({ id }) => id)).size === list.length, 'must have unique ids')
  .describe(
    'What the law has the agent say first: in this order before the first node of each call, without interruption. What the person says meanwhile is answered afterwards. A call in which one was not heard whole in time has `violations`.',
  );

type Disclosure = z.infer<typeof disclosure>;

/** A disclosure that a call owes the person. */
export interface DueDisclosure {
  readonly id: string;
  readonly withinSeconds: number;
  /** Whether it is said to an answering machine too. */
  readonly machines: boolean;
}

/** Returns what a call owes the person who answers it, in the order in which it is said. */
export function dueDisclosures(
  all: readonly Disclosure[] | null,
  direction: 'outbound' | 'inbound',
): DueDisclosure[] {
  return (all ?? [])
    .filter((one) => one.direction === direction || one.direction === 'both')
    .map(({ id, withinSeconds, machines = true }) => ({ id, withinSeconds, machines }));
}
