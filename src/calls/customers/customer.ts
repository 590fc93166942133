import { z } from 'zod';

/** Ids are shown of the newest sessions only. */
export const MAX_CUSTOMER_IDS = 200;

const counted = (what: string) =>
  z.object({ total: z.int(), ids: z.array(z.string()).describe(`${what}, newest first.`) });

/** The data that is stored about one person. */
export const customer = z
  .object({
    key: z.string().describe('The E.164 number, or `customerId`.'),
    keyHash: z.string().describe('How the audit log names the customer.'),
    memory: z
      .object({ text: z.string(), updatedAt: z.iso.datetime() })
      .nullable()
      .describe('What the agent remembers for later sessions.'),
    sessions: counted(`Ids of at most ${MAX_CUSTOMER_IDS} sessions`),
    calls: counted('Ids of the calls among these sessions'),
    recordings: counted('Ids of the recorded calls among these sessions'),
  })
  .meta({ id: 'Customer' });

export type Customer = z.infer<typeof customer>;
