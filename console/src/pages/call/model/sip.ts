export interface SipMessage {
  readonly at: string;
  readonly direction: 'in' | 'out';
  readonly transport: string;
  readonly remote: string;
  readonly text: string;
}

/** A line of the ladder. */
export interface SipStep extends SipMessage {
  /** `INVITE`, or `200 OK`. */
  readonly title: string;
  /** Of a response: the request's method. */
  readonly method: string;
  readonly isResponse: boolean;
  readonly isFailure: boolean;
  readonly hasSdp: boolean;
  readonly callId: string;
}

/** Reads what the ladder shows of each message. What carriers send need not be SIP. */
export function sipSteps(messages: readonly SipMessage[]): SipStep[] {
  return messages.map((message) => {
    const [first = ''] = message.text.split('\n', 1);
    const response = /^SIP\/2\.0 (\d{3})\s*(.*)/.exec(first.trim());
    const [request = '?'] = first.trim().split(' ', 1);
    const cseq = headerOf(message.text, 'CSeq');
    const title = response ? `${response[1]} ${response[2] ?? ''}`.trim() : request;
    return {
      ...message,
      title,
      method: /\s([A-Z]+)/.exec(cseq)?.[1] ?? request,
      isResponse: response !== null,
      isFailure: Number(response?.[1] ?? 0) >= 400,
      hasSdp: /^content-type\s*:\s*application\/sdp/im.test(message.text) && /^v=0/m.test(message.text),
      callId: headerOf(message.text, 'Call-ID', 'i'),
    };
  });
}

/** The addresses that took part, in the order of their first message. */
export function peersOf(steps: readonly SipStep[]): string[] {
  return [...new Set(steps.map(({ remote }) => remote))];
}

function headerOf(text: string, ...names: readonly string[]): string {
  const found = new RegExp(`^(?:${names.join('|')})[ \\t]*:[ \\t]*(.*)$`, 'im').exec(text);
  return found?.[1]?.trim() ?? '';
}
