import { v5, v7 } from 'uuid';

/** Creates the ids of everything that the service stores; a dependency, so that tests can predict them. */
export type MakeId = () => string;

/**
 * Creates UUIDs of version 7. The first 48 bits are the time, so rows that are inserted together are stored together.
 * The ids of one process sort in the order of their creation, even when the system clock is set back.
 *
 * @see RFC 9562 sections 5.7 and 6.2 (method 1)
 */
export const uuidV7: MakeId = () => v7();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Tells whether a text from a request has the form of an id. Check it before a query: Postgres rejects other texts. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/**
 * The same id for the same name in the same namespace, such as for what another server calls by a name.
 *
 * @param namespace - A UUID.
 * @see RFC 9562 section 5.5 (version 5)
 */
export function uuidOfName(namespace: string, name: string): string {
  return v5(name, namespace);
}
