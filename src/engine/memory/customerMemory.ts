const LONGEST_KEY_CHARACTERS = 255;

/** Stores what is known of customers across sessions. */
export interface MemoryStore {
  find(projectId: string, customer: string): Promise<string | undefined>;
  /** Keeps what a session has added; nothing where the session was erased meanwhile. */
  keep(projectId: string, customer: string, text: string, instanceId: string): Promise<void>;
}

/**
 * The key of a session's customer memory: the call's phone number, else `variables.customerId`.
 *
 * @returns The key; undefined when the session has neither, and the customer so has no memory.
 */
export function customerOf(
  variables: Readonly<Record<string, unknown>>,
  phoneNumber?: string,
): string | undefined {
  if (phoneNumber) return `phone:${phoneNumber}`;
  const id = variables.customerId;
  const isKey = typeof id === 'string' || typeof id === 'number';
  const key = isKey ? String(id).trim() : '';
  return key === '' || key.length > LONGEST_KEY_CHARACTERS ? undefined : `id:${key}`;
}
