import { v7 } from 'uuid';

/** Makes the ids of everything that the service creates; a dependency, so that tests can foresee them. */
export type MakeId = () => string;

/**
 * A UUID version 7: its first 48 bits are the time, so that rows made together lie together in an index.
 *
 * @see RFC 9562 section 5.7
 */
export const uuidV7: MakeId = () => v7();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text that a user sent can be one of our ids at all. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
