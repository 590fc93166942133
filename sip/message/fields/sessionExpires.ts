import { parseInteger, parseParams } from '../grammar.ts';

export interface SessionExpires {
  readonly intervalSeconds: number;
  readonly refresher: 'uac' | 'uas' | undefined;
}

const MAX_SECONDS = 2 ** 31 - 1;

/**
 * @throws {SipParseError}
 * @see RFC 4028 section 4
 */
export function parseSessionExpires(text: string): SessionExpires {
  const semicolon = text.indexOf(';');
  const params = parseParams(semicolon < 0 ? '' : text.slice(semicolon));
  const refresher = params.get('refresher')?.toLowerCase();
  return {
    intervalSeconds: parseInteger(
      semicolon < 0 ? text : text.slice(0, semicolon),
      'Session-Expires',
      MAX_SECONDS,
    ),
    refresher: refresher === 'uac' || refresher === 'uas' ? refresher : undefined,
  };
}

export function formatSessionExpires(value: SessionExpires): string {
  return `${value.intervalSeconds}${value.refresher ? `;refresher=${value.refresher}` : ''}`;
}
