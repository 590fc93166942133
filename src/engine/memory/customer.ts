const LONGEST_KEY = 255;

/**
 * Whom a session's memory belongs to: the phone number of a call, or what the customer's program calls them by
 * (`variables.customerId`). Nobody is remembered otherwise.
 */
export function customerOf(
  variables: Readonly<Record<string, unknown>>,
  phoneNumber?: string,
): string | undefined {
  if (phoneNumber) return `phone:${phoneNumber}`;
  const id = variables.customerId;
  const isKey = typeof id === 'string' || typeof id === 'number';
  const key = isKey ? String(id).trim() : '';
  return key === '' || key.length > LONGEST_KEY ? undefined : `id:${key}`;
}
