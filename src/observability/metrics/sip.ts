const OPEN_PREFIX = 'now.';
const MESSAGES_PREFIX = 'messages.';
/** Shown before the first of them: an alert on their increase sees nothing of a count that begins above 0. */
const WATCHED = { 'refused.flood': 0, 'sources.banned': 0, 'dropped.rate': 0, 'answered.603': 0 };

/**
 * What the embedded SIP server counts: what it took, answered by itself, dropped and refused, and what is open in it.
 *
 * @param stats - By its own names, as `messages.in`, `dropped.rate`, `answered.482` and `now.dialogs`; undefined while
 *   there is no server.
 * @returns Prometheus's text format; empty without a server.
 */
export function renderSipServerMetrics(stats: Readonly<Record<string, number>> | undefined): string {
  if (!stats) return '';
  const all = Object.entries({ ...WATCHED, ...stats }).sort(([one], [other]) => (one < other ? -1 : 1));
  const samples = (name: string, label: string, prefix: string) =>
    all
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => `${name}{${label}="${key.slice(prefix.length)}"} ${value}`);
  const events = all
    .filter(([key]) => !key.startsWith(OPEN_PREFIX) && !key.startsWith(MESSAGES_PREFIX))
    .map(([key, value]) => `callway_sip_events_total{event="${key}"} ${value}`);
  return [
    '# HELP callway_sip_messages_total SIP messages, both ways.',
    '# TYPE callway_sip_messages_total counter',
    ...samples('callway_sip_messages_total', 'direction', MESSAGES_PREFIX),
    '# HELP callway_sip_events_total What the SIP server answered by itself, dropped, refused and gave up, and why.',
    '# TYPE callway_sip_events_total counter',
    ...events,
    '# HELP callway_sip_open What is open in the SIP server now.',
    '# TYPE callway_sip_open gauge',
    ...samples('callway_sip_open', 'what', OPEN_PREFIX),
    '',
  ].join('\n');
}
