import { z } from 'zod';
import type { AuditEntry } from '../../agents/accounts/audit.ts';

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

/** Names a customer: sessions with this `customerId`, and with calls of this number. */
export interface CustomerName {
  readonly projectId: string;
  readonly key: string;
}

/** A call that has not come to rest: in progress, or with a recording that is not stored yet. */
export interface UnsettledCall {
  readonly id: string;
  readonly hasEnded: boolean;
}

/** The rows that one step of an erasure has removed from the database, with the names of their copies elsewhere. */
export interface ErasedBatch {
  readonly instanceIds: readonly string[];
  readonly callIds: readonly string[];
  readonly recordingKeys: readonly string[];
  /** True when nothing is left to erase. */
  readonly isLast: boolean;
}

export interface CustomerStore {
  /** @returns Undefined when nothing is stored about the person. */
  find(name: CustomerName): Promise<Omit<Customer, 'keyHash'> | undefined>;
  unsettledCalls(name: CustomerName): Promise<UnsettledCall[]>;
  /** Removes what the agent remembers. @returns True when there was something. */
  removeMemory(name: CustomerName, entry: AuditEntry): Promise<boolean>;
  /**
   * Requests the erasure of a customer; a pending one continues. @param entry - The entry for the audit log, written at
   * the end.
   */
  requestErasure(name: CustomerName, entry: AuditEntry): Promise<void>;
  /**
   * Erases the next sessions in one transaction, with their calls, webhooks and memory. Calls that are not settled
   * stay.
   *
   * @returns Undefined when no erasure has begun, or it has finished.
   */
  eraseNext(name: CustomerName): Promise<ErasedBatch | undefined>;
  /** Lists the erasures that have begun. */
  pendingErasures(limit: number, after?: CustomerName): Promise<CustomerName[]>;
}
