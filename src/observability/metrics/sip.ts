const OPEN_PREFIX = 'now.';
const MESSAGES_PREFIX = 'messages.';
/** Initialized to 0: an alert on the increase of a counter does not see a counter that starts above 0. */
const WATCHED = { 'refused.flood': 0, 'sources.banned': 0, 'dropped.rate': 0, 'answered.603': 0 };

/**
 * Renders the counters and gauges of the embedded SIP server.
 *
 * @param stats - The statistics by the server's names, such as `messages.in`, `dropped.rate`, `answered.482` and
 *   `now.dialogs`; undefined without a server.
 * @returns Prometheus text format; empty without a server.
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
    '# HELP callway_sip_messages_total SIP messages, received and sent.',
    '# TYPE callway_sip_messages_total counter',
    ...samples('callway_sip_messages_total', 'direction', MESSAGES_PREFIX),
    '# HELP callway_sip_events_total Messages that the SIP server answered, dropped, refused or gave up, by reason.',
    '# TYPE callway_sip_events_total counter',
    ...events,
    '# HELP callway_sip_open Open transactions, dialogs and connections of the SIP server.',
    '# TYPE callway_sip_open gauge',
    ...samples('callway_sip_open', 'what', OPEN_PREFIX),
    '',
  ].join('\n');
}
