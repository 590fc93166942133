import { z } from 'zod';

import { settableVariable, variableName } from '../../agents/fields.ts';

const MAX_MAPPINGS = 20;
/** The longest value of one header, since a whole INVITE has to fit a datagram. */
const MAX_VALUE_CHARACTERS = 500;
const CONTROL_CHARACTERS = /\p{Cc}+/gu;

/**
 * Headers that SIP itself uses: a trunk's settings may not write them. A name of one letter is the short form of one.
 */
const SIP_HEADERS = new Set(
  `accept accept-contact accept-encoding accept-language allow allow-events authentication-info authorization call-id
   contact content-disposition content-encoding content-language content-length content-type cseq event expires from
   identity join max-forwards mime-version min-expires min-se path proxy-authenticate proxy-authentication-info
   proxy-authorization proxy-require rack reason record-route refer-sub refer-to referred-by reject-contact replaces
   request-disposition require retry-after route rseq security-client security-server security-verify service-route
   session-expires session-id subscription-state supported target-dialog timestamp to unsupported via warning
   www-authenticate`.split(/\s+/),
);
/** Headers whose values are credentials. */
const CREDENTIALS = new Set(['authorization', 'proxy-authorization']);

/** A header's name. */
export const headerName = z.string().regex(/^[A-Za-z0-9!%*_+`'~.-]{1,100}$/, 'must be a header name');

/** Returns true when only SIP itself may write the header. @see RFC 3261 section 20 */
export function isSipHeader(name: string): boolean {
  return name.length === 1 || SIP_HEADERS.has(name.toLowerCase());
}

/** The name of a header that a trunk's settings may write. */
export const ownHeaderName = headerName.refine(
  (name) => !isSipHeader(name),
  'must not be a header that SIP itself uses',
);

export const headersToVariables = z
  .array(
    z.strictObject({
      header: headerName.refine(
        (name) => !CREDENTIALS.has(name.toLowerCase()),
        'must not be a header of credentials',
      ),
      variable: settableVariable,
    }),
  )
  .max(MAX_MAPPINGS)
  .describe(
    'Headers of inbound INVITEs that become variables of the session. Of two for one variable, the first counts.',
  )
  .meta({ example: [{ header: 'X-Customer-ID', variable: 'customerId' }] });

export const variablesToHeaders = z
  .array(
    z.strictObject({
      variable: variableName,
      header: ownHeaderName,
    }),
  )
  .max(MAX_MAPPINGS)
  .describe('Variables of the session that outbound INVITEs carry as headers.')
  .meta({ example: [{ variable: 'ticket', header: 'X-Ticket' }] });

/** @param read - The value of the first such header of the INVITE. */
export function variablesFromHeaders(
  mappings: z.output<typeof headersToVariables>,
  read: (header: string) => string | undefined,
): Record<string, string> {
  const found = mappings.flatMap(({ header, variable }) => {
    const value = asLine(read(header) ?? '');
    return value === '' ? [] : [[variable, value] as const];
  });
  return Object.fromEntries(found.reverse());
}

/** Leaves out variables without a value; lists and objects are written as JSON. */
export function headersFromVariables(
  mappings: z.output<typeof variablesToHeaders>,
  variables: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const headers = mappings.flatMap(({ variable, header }) => {
    const value = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
    const line = asLine(typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value));
    return line === '' ? [] : [[header, line] as const];
  });
  return Object.fromEntries(headers);
}

/** Makes one line without control characters, so that no value can begin another header. */
export function asLine(text: string, maxCharacters = MAX_VALUE_CHARACTERS): string {
  return text.replace(CONTROL_CHARACTERS, ' ').trim().slice(0, maxCharacters).toWellFormed();
}
