import { quote } from '../grammar.ts';

/** A Reason header. @see RFC 3326 */
export interface Reason {
  /** The protocol, such as `SIP` or `Q.850`. */
  readonly protocol: string;
  readonly cause: number | undefined;
  readonly text: string | undefined;
}

export function formatReason(reason: Reason): string {
  const cause = reason.cause === undefined ? '' : `;cause=${reason.cause}`;
  return `${reason.protocol}${cause}${reason.text === undefined ? '' : `;text=${quote(reason.text.replace(/[\r\n]+/g, ' '))}`}`;
}
