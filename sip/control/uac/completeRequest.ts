import { createDialogRequest } from '../../dialog/dialogState.ts';
import { addToken } from '../../dialog/sessionTimer.ts';
import { parseNameAddr, tagOf, withTag } from '../../message/fields/nameAddr.ts';
import { parseCSeq } from '../../message/fields/sequence.ts';
import { SipHeaders } from '../../message/headers.ts';
import type { SipRequest } from '../../message/message.ts';
import type { Flow } from '../../transport/types.ts';
import { bracketAddresses, overlayHeaders, ownUri, replaceLocalhost } from '../applicationMessage.ts';
import type { Core, Dialog } from '../core.ts';

/** The headers that the dialog sets, so that applications cannot change them. */
export const FROM_DIALOG = new Set(['from', 'to', 'call-id', 'cseq']);
const NEEDS_CONTACT = new Set(['INVITE', 'SUBSCRIBE']);
const IN_DIALOG_CONTACT = new Set(['INVITE', 'SUBSCRIBE', 'REFER', 'UPDATE', 'NOTIFY']);
const FIRST_CSEQ = 1;

/** Adds the headers that a request outside a dialog needs. @throws {SipParseError} */
export function completeNew(core: Core, sparse: SipRequest, flow: Flow): SipRequest {
  const headers = new SipHeaders();
  const own = ownUri(core, flow);
  headers.add('max-forwards', '70');
  headers.add('from', `<${own}>`);
  headers.add('to', `<${sparse.uri}>`);
  headers.add('call-id', core.ids.uuid());
  headers.add('cseq', `${FIRST_CSEQ} ${sparse.method}`);
  overlayHeaders(headers, sparse.headers, new Set());
  // Of a registration, or of a dialog of another server that has failed; drachtio-server drops it.
  for (const route of sparse.headers.all('route')) headers.add('route', route);
  replaceLocalhost(core, headers, flow);
  for (const name of ['from', 'to']) parseNameAddr(headers.get(name) ?? '');
  bracketAddresses(headers, ['from', 'to', 'contact']);
  const from = headers.get('from') ?? '';
  if (tagOf(from) === undefined) headers.set('from', withTag(from, core.ids.token()));
  const { sequence } = parseCSeq(headers.get('cseq') ?? '');
  headers.set('cseq', `${sequence} ${sparse.method}`);
  if (NEEDS_CONTACT.has(sparse.method)) headers.setDefault('contact', `<${own}>`);
  if (sparse.method === 'INVITE') addToken(headers, 'supported', 'timer');
  return { kind: 'request', method: sparse.method, uri: sparse.uri, headers, body: sparse.body };
}

/** Puts an application's request into a dialog. @throws {SipParseError} */
export function completeInDialog(core: Core, dialog: Dialog, sparse: SipRequest, flow: Flow): SipRequest {
  const asked = sparse.headers.get('cseq');
  const sequence =
    asked === undefined ? undefined : parseCSeq(`${asked.split(/\s+/)[0]} ${sparse.method}`).sequence;
  const fresh = sequence !== undefined && sequence > dialog.state.localSequence ? sequence : undefined;
  const request = createDialogRequest(dialog.state, sparse.method, fresh);
  overlayHeaders(request.headers, sparse.headers, FROM_DIALOG);
  replaceLocalhost(core, request.headers, flow);
  bracketAddresses(request.headers, ['contact']);
  if (IN_DIALOG_CONTACT.has(sparse.method)) {
    request.headers.setDefault('contact', dialog.state.localTarget || `<${ownUri(core, flow)}>`);
  }
  const isRefresh = sparse.method === 'INVITE' || sparse.method === 'UPDATE';
  if (isRefresh && dialog.sessionTimer && !request.headers.has('session-expires')) {
    request.headers.add('session-expires', `${dialog.sessionTimer.intervalSeconds};refresher=uac`);
  }
  if (sparse.method === 'INVITE') addToken(request.headers, 'supported', 'timer');
  if (request.uri === dialog.state.remoteTarget && !isPlaceholder(sparse.uri)) request.uri = sparse.uri;
  request.body = sparse.body;
  return request;
}

function isPlaceholder(uri: string): boolean {
  return uri === '' || uri === 'sip:placeholder';
}
