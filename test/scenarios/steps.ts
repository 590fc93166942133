/**
 * Builders for the steps of SIPp scenarios, in SIPp's XML. Each message that may be retransmitted belongs to a named
 * transaction: otherwise SIPp accepts any 200 as the expected one and loses track of what to acknowledge.
 */

/** Placeholder for timer T1, replaced when the scenario runs. */
export const T1 = '@T1@';
/** Placeholder for the UDP port that receives audio. */
export const MEDIA_PORT = '@MEDIA_PORT@';
/** Placeholder for the user part of the called address. */
export const USER = '@USER@';

export interface MessageParts {
  readonly headers?: readonly string[];
  readonly body?: string;
  /** Outside of any dialog: the `To` header has no tag. */
  readonly isNew?: boolean;
}

/** An SDP description of one audio stream with telephone-event. */
export function sdp(direction = 'sendrecv', version = 1): string {
  return [
    'v=0',
    `o=sipp 1 ${version} IN IP4 [local_ip]`,
    's=-',
    'c=IN IP4 [local_ip]',
    't=0 0',
    `m=audio ${MEDIA_PORT} RTP/AVP 0 101`,
    'a=rtpmap:0 PCMU/8000',
    'a=rtpmap:101 telephone-event/8000',
    'a=fmtp:101 0-15',
    `a=${direction}`,
  ].join('\n');
}

/** @param endMs - How long SIPp still answers retransmissions after the last step. */
export function scenario(name: string, steps: readonly string[], endMs = 0): string {
  const end = endMs > 0 ? [`<timewait milliseconds="${endMs}"/>`] : [];
  // SIPp rejects a scenario with variables that are assigned but not referenced.
  const variables = new Set(
    [...steps.join('').matchAll(/assign_to="(\w+)"/g)].map(([, variable]) => variable),
  );
  const used = variables.size > 0 ? [`<Reference variables="${[...variables].join(',')}"/>`] : [];
  return [
    '<?xml version="1.0"?>',
    `<scenario name="${name}">`,
    ...steps,
    ...end,
    ...used,
    '</scenario>',
  ].join('\n');
}

/** A request of the caller. @param name - Names the transaction. */
export function request(method: string, sequence: number, name: string, parts: MessageParts = {}): string {
  return send(`retrans="${T1}" start_txn="${name}"`, requestText(method, sequence, name, parts));
}

/** Cancels the INVITE transaction `invite`. */
export function cancel(invite: string, sequence: number, parts: MessageParts = {}): string {
  return send(`retrans="${T1}" start_txn="cancel"`, requestText('CANCEL', sequence, invite, parts));
}

/** Acknowledges the final response; a refusal is acknowledged in the INVITE transaction itself. */
export function ack(invite: string, sequence: number, refused = false): string {
  const branch = refused ? invite : `${invite}-ack`;
  return send(`ack_txn="${invite}"`, requestText('ACK', sequence, branch, {}));
}

export function expectOptional(status: number, name: string): string {
  return `<recv response="${status}" optional="true" response_txn="${name}"/>`;
}

/** A response that may come here or at any later time, or not at all. */
export function expectAnytime(status: number, name: string): string {
  return `<recv response="${status}" optional="global" response_txn="${name}"/>`;
}

/** @param inner - Actions on the received message. */
export function expectAnswer(status: number, name: string, inner = '', attributes = ''): string {
  return `<recv response="${status}" response_txn="${name}" ${attributes}>${inner}</recv>`;
}

export function expectRequest(method: string, inner = ''): string {
  return `<recv request="${method}">${inner}</recv>`;
}

/** Fails the call when the header is missing or does not match. */
export function requireHeader(header: string, pattern: string, variable: string): string {
  return `<action><ereg regexp="${pattern}" search_in="hdr" header="${header}:" check_it="true" assign_to="${variable}"/></action>`;
}

/** Sets a variable that a step can test. */
export function mark(variable: string): string {
  return `<action><assign assign_to="${variable}" value="1"/></action>`;
}

/** A response to the latest in-dialog request. */
export function answerLastRequest(status: string, parts: MessageParts = {}): string {
  const lines = ['[last_Via:]', '[last_From:]', '[last_To:]', '[last_Call-ID:]', '[last_CSeq:]'];
  return send('', [`SIP/2.0 ${status}`, ...lines, ...tail(parts)].join('\n'));
}

const KEPT = ['via', 'from', 'to', 'cseq'] as const;

/** The callee receives the INVITE and stores the headers of its later messages. */
export function expectInvite(): string {
  const keep = KEPT.map(
    (name) => `<ereg regexp=".*" search_in="hdr" header="${spelled(name)}:" assign_to="${name}"/>`,
  );
  return `<recv request="INVITE" rrs="true"><action>${keep.join('')}</action></recv>`;
}

/** The callee's response to the INVITE; a final response is retransmitted until the ACK arrives. */
export function answerInvite(status: string, parts: MessageParts = {}): string {
  const [via, from, to, cseq] = KEPT.map((name) => `${spelled(name)}:[$${name}]`);
  const lines = [via, from, `${to};tag=[pid]s[call_number]`, '[last_Call-ID:]', cseq, ...tail(parts)];
  return send(/^1/.test(status) ? '' : `retrans="${T1}"`, [`SIP/2.0 ${status}`, ...lines].join('\n'));
}

/** An in-dialog request of the callee. */
export function calleeRequest(
  method: string,
  sequence: number,
  name: string,
  parts: MessageParts = {},
): string {
  const lines = [
    `${method} [next_url] SIP/2.0`,
    `Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=z9hG4bK-[pid]-[call_number]-${method}-${name}`,
    'Max-Forwards: 70',
    'From:[$to];tag=[pid]s[call_number]',
    'To:[$from]',
    '[last_Call-ID:]',
    `CSeq: ${sequence} ${method}`,
    ...tail(parts),
  ];
  const transaction = method === 'ACK' ? `ack_txn="${name}"` : `retrans="${T1}" start_txn="${name}"`;
  return send(transaction, lines.join('\n'));
}

export function pause(milliseconds: number | 'given'): string {
  return milliseconds === 'given' ? '<pause/>' : `<pause milliseconds="${milliseconds}"/>`;
}

function send(attributes: string, text: string): string {
  return `<send ${attributes}><![CDATA[\n${text}\n]]></send>`;
}

function requestText(method: string, sequence: number, branch: string, parts: MessageParts): string {
  return [
    `${method} sip:${USER}@[remote_ip]:[remote_port] SIP/2.0`,
    `Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=z9hG4bK-[pid]-[call_number]-${branch}`,
    'Max-Forwards: 70',
    'From: <sip:sipp@[local_ip]:[local_port]>;tag=[pid]c[call_number]',
    `To: <sip:${USER}@[remote_ip]:[remote_port]>${method === 'CANCEL' || parts.isNew ? '' : '[peer_tag_param]'}`,
    'Call-ID: [call_id]',
    `CSeq: ${sequence} ${method}`,
    ...tail(parts),
  ].join('\n');
}

function tail({ headers = [], body = '' }: MessageParts): string[] {
  const contact = 'Contact: <sip:sipp@[local_ip]:[local_port];transport=[transport]>';
  const type = body === '' ? [] : ['Content-Type: application/sdp'];
  return [contact, ...headers, ...type, 'Content-Length: [len]', '', body];
}

function spelled(name: (typeof KEPT)[number]): string {
  return { via: 'Via', from: 'From', to: 'To', cseq: 'CSeq' }[name];
}
