import { buffer } from 'node:stream/consumers';
import type { RecordingReader } from '../../calls/recording/recordingStore.ts';
import { type Remark, type ReportLocale, remarkText } from '../assertions/remark.ts';
import type { Verdict } from '../assertions/verdict.ts';
import type { Play, PlayedCase, TestRun } from '../runs/testRun.ts';
import type { PlayResult, RunDetail } from '../runs/testRunStore.ts';
import { HTML_TEXTS } from './htmlTexts.ts';
import { reportText, shownValue } from './reportText.ts';

/** Plays whose words are shown; the API has the others. */
const MAX_SHOWN_PLAYS = 100;
/** About 35 minutes of stereo WAV at 8 kHz. */
const MAX_AUDIO_BYTES = 64 * 1024 ** 2;
/** The time format shows the zone, since the page is kept and sent to others. */
const TIME = { dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23', timeZone: 'UTC' } as const;
const PLOT = { width: 640, height: 120, barGap: 1 } as const;

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; background: light-dark(#fff, #121212) }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .3rem .4rem; border-bottom: 1px solid #8884 }
.passed { color: light-dark(#17803d, #6fd08c) } .failed, .error { color: light-dark(#c62828, #ff8a80) } .flaky { color: light-dark(#8a5300, #ffb74d) }
.caller, .agent { margin: .3rem 0; padding: .4rem .7rem; border-radius: .6rem; max-width: 80%; white-space: pre-wrap }
.caller { background: #8883; margin-left: auto } .agent { background: #3b82f622 }
figure { margin: 1rem 0 } svg { max-width: 100% } rect { fill: #3b82f6 } audio { width: 100% }`;

export interface HtmlReportOptions {
  /** Default: English. */
  readonly locale?: ReportLocale;
  /** Opens recordings; undefined on an installation that stores none. */
  readonly recordings?: RecordingReader | undefined;
  /** Limit of the embedded recordings, in bytes: first those of plays that did not pass. Beyond it the page has links. */
  readonly maxAudioBytes?: number;
}

interface ShownPlay {
  readonly one: PlayedCase;
  readonly play: Play;
  readonly result: PlayResult | null;
}

type Texts = (typeof HTML_TEXTS)[ReportLocale];

/** A run as one self-contained HTML page, without scripts, with the recordings as `data:` URLs. */
export async function* htmlReport(
  run: TestRun,
  detail: RunDetail,
  { locale = 'en', recordings, maxAudioBytes = MAX_AUDIO_BYTES }: HtmlReportOptions = {},
): AsyncGenerator<string> {
  const texts = HTML_TEXTS[locale];
  const plays = playsOf(run, detail);
  const unsuccessful = plays.filter(({ play: { status } }) => status === 'failed' || status === 'error');
  const recorded = plays.filter(({ play, result }) => play.status === 'passed' && result?.recordingKey);
  const latencies = detail.plays.flatMap(({ result }) => result?.latenciesMs ?? []);
  const player = recordingPlayer(texts, recordings, maxAudioBytes);
  yield `<!doctype html>
<html lang="${locale}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${reportText(run.name)}${texts.colon}${texts.statuses[run.status]}</title><style>${STYLE}</style></head>
<body><h1>${reportText(run.name)}${texts.colon}<span class="${run.status}">${texts.statuses[run.status]}</span></h1>
<p>${summaryLine(texts, locale, run)}</p>
<table><thead><tr>${texts.columns.map((column) => `<th>${column}</th>`).join('')}</tr></thead><tbody>
${run.cases.map((one) => caseRow(texts, one)).join('\n')}
</tbody></table>
${latencyPlot(texts, latencies)}
`;
  if (unsuccessful.length > 0) yield `<h2>${texts.unsuccessful}</h2>\n`;
  for (const shown of unsuccessful.slice(0, MAX_SHOWN_PLAYS))
    yield playSection(locale, shown, await player(shown));
  if (unsuccessful.length > MAX_SHOWN_PLAYS)
    yield `<p>${texts.more(unsuccessful.length - MAX_SHOWN_PLAYS)}</p>\n`;
  if (recorded.length > 0) yield `<h2>${texts.recorded}</h2>\n`;
  for (const shown of recorded.slice(0, MAX_SHOWN_PLAYS))
    yield `<p>${reportText(shown.one.name)} (${placeOf(texts, shown)})<br>${await player(shown)}</p>\n`;
  yield '</body></html>\n';
}

function playsOf({ cases }: TestRun, { plays }: RunDetail): ShownPlay[] {
  const resultOf = new Map(plays.map(({ position, index, result }) => [`${position} ${index}`, result]));
  return cases.flatMap((one, position) =>
    one.runs.map((play) => ({ one, play, result: resultOf.get(`${position} ${play.index}`) ?? null })),
  );
}

/** Renders audio players: embeds recordings up to the limit, and links to the others. */
function recordingPlayer(
  texts: Texts,
  recordings: HtmlReportOptions['recordings'],
  maxBytes: number,
): (shown: ShownPlay) => Promise<string> {
  let leftBytes = maxBytes;
  return async ({ play: { recordingUrl }, result }) => {
    const key = result?.recordingKey;
    if (key === undefined) return '';
    try {
      const recording = await recordings?.open(key);
      if (!recording) return `<em>${texts.gone}</em>`;
      if (recording.totalBytes > leftBytes) {
        recording.stream.destroy();
        const link = (text: string) => `<a href="${reportText(recordingUrl ?? '')}">${text}</a>`;
        return `<em>${texts.tooLong(link)}</em>`;
      }
      leftBytes -= recording.totalBytes;
      const audio = (await buffer(recording.stream)).toString('base64');
      return `<audio controls preload="none" src="data:audio/wav;base64,${audio}"></audio>`;
    } catch {
      return `<em>${texts.unreadable}</em>`;
    }
  };
}

function summaryLine(texts: Texts, locale: ReportLocale, run: TestRun): string {
  const { startedAt, comparison } = run;
  const time = new Intl.DateTimeFormat(locale, TIME);
  const started = texts.startedAt(startedAt && time.format(new Date(startedAt)));
  return `${texts.summary(run)}${started}${comparison ? texts.compared(comparison) : ''}`;
}

function caseRow(texts: Texts, { name, status, passed, failed, passRate, latencyMs }: PlayedCase): string {
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const interval = passRate ? texts.interval(percent(passRate.low), percent(passRate.high)) : '';
  const cells = [
    texts.part(passed, passed + failed),
    interval,
    shownMs(latencyMs.p50),
    shownMs(latencyMs.p95),
  ];
  return `<tr><td>${reportText(name)}</td><td class="${status}">${texts.statuses[status]}</td>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

function shownMs(value: number | null): string {
  return value === null ? '' : `${Math.round(value)} ms`;
}

function playSection(locale: ReportLocale, { one, play, result }: ShownPlay, player: string): string {
  const texts = HTML_TEXTS[locale];
  const { error, verdicts = [], transcript = [] } = result ?? {};
  const failures = verdicts.filter(({ passed }) => !passed);
  return `<section><h3>${reportText(one.name)} (${placeOf(texts, { one, play })}, ${texts.seed(play.seed)})</h3>
${error === undefined ? '' : `<p class="error">${reportText(remarkText(error, locale))}</p>`}
<ul>${failures.map((failure) => failureItem(locale, failure)).join('')}</ul>
${player}
${(play.replay ?? []).map(({ said, before, after }) => `<p class="caller">${reportText(said)}</p><table><tr><th>${texts.before}</th><th>${texts.now}</th></tr><tr><td>${reportText(before)}</td><td>${reportText(after)}</td></tr></table>`).join('')}
${transcript.map(({ caller, agent }) => `${caller === undefined ? '' : `<p class="caller">${reportText(caller)}</p>`}${agent === '' ? '' : `<p class="agent">${reportText(agent)}</p>`}`).join('')}
</section>
`;
}

function placeOf(texts: Texts, { one, play }: Pick<ShownPlay, 'one' | 'play'>): string {
  return texts.part(play.index + 1, one.runs.length);
}

function failureItem(locale: ReportLocale, { type, seen, turn, atMs, reason }: Verdict): string {
  const texts = HTML_TEXTS[locale];
  const place = turn === undefined ? '' : `, ${texts.turn(turn)}`;
  const time = atMs === undefined ? '' : `, ${texts.seconds((atMs / 1000).toFixed(1))}`;
  const why =
    reason === undefined ? '' : `${texts.colon}${reportText(texts.said(remarkText(reason, locale)))}`;
  const shown = type === 'judge' ? remarkText(seen as Remark, locale) : shownValue(seen);
  return `<li><strong>${type}</strong>${place}${time}${why}<br>${texts.seen}${texts.colon}<code>${reportText(shown)}</code></li>`;
}

/** A histogram of all answers. */
function latencyPlot(texts: Texts, latencies: readonly number[]): string {
  if (latencies.length === 0) return '';
  const bins = 40;
  const highest = Math.max(...latencies, 1);
  const counts = Array.from({ length: bins }, () => 0);
  for (const latency of latencies) {
    const bin = Math.min(bins - 1, Math.floor((latency / highest) * bins));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const most = Math.max(...counts);
  const width = PLOT.width / bins;
  const bars = counts.map((count, bin) => {
    const height = (count / most) * PLOT.height;
    return `<rect x="${bin * width}" y="${PLOT.height - height}" width="${width - PLOT.barGap}" height="${height}"/>`;
  });
  return `<figure><svg viewBox="0 0 ${PLOT.width} ${PLOT.height}" role="img" aria-label="${texts.latency}">${bars.join('')}</svg><figcaption>${texts.latencyOf(latencies.length, Math.round(highest))}</figcaption></figure>`;
}
