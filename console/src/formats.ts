import { locale } from './texts.ts';

/** With 12 hours, browsers write 清晨 or 中午 before the time. */
export const hourFormat = locale === 'zh-TW' ? ({ hourCycle: 'h23' } as const) : {};
const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', ...hourFormat });
const shortTime = new Intl.DateTimeFormat(locale, { timeStyle: 'medium', ...hourFormat });
const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });

/** @param at - ISO 8601. */
export const formatDateTime = (at: string): string => dateTime.format(new Date(at));

const hour = new Intl.DateTimeFormat(locale, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  ...hourFormat,
});
const utcDay = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });

/** @param at - ISO 8601. */
export const formatHour = (at: string): string => hour.format(new Date(at));

/** The day in UTC. @param at - ISO 8601. */
export const formatDay = (at: string): string => utcDay.format(new Date(at));

/** @param at - ISO 8601. */
export const formatTime = (at: string): string => shortTime.format(new Date(at));

export const formatNumber = (value: number): string => numbers.format(value);

/** An amount of money with the four digits that calls of a few cents need. */
export const formatCost = ({
  total,
  currency,
}: {
  readonly total: number;
  readonly currency: string;
}): string =>
  new Intl.NumberFormat(locale, { style: 'currency', currency, maximumFractionDigits: 4 }).format(total);

/** `1:05`, or `1:01:05` from an hour on. */
export function formatDuration(durationMs: number): string {
  const seconds = Math.max(0, Math.floor(durationMs / 1000));
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, '0'));
  const hours = Math.floor(seconds / 3600);
  return hours > 0 ? `${hours}:${parts.join(':')}` : `${Math.floor(seconds / 60)}:${parts[1]}`;
}

/** How long something took: `840 ms`, `1.2 s`, or `1:05` from a minute on. */
export const formatTook = (durationMs: number): string =>
  durationMs < 60_000 ? formatLatency(durationMs) : formatDuration(durationMs);

/** `840 ms`, or `1.2 s`. */
export function formatLatency(latencyMs: number): string {
  return latencyMs < 1000 ? `${Math.round(latencyMs)} ms` : `${formatNumber(latencyMs / 1000)} s`;
}

/** With a capital letter at its beginning: the API's messages have none. */
export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `840 B`, `1.2 kB`, or `3.4 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${formatNumber(bytes / 1000 ** power)} ${units[power]}`;
}

/** @param share - 0 to 1. */
export const formatPercent = (share: number): string => `${formatNumber(share * 100)}%`;

const languages = new Intl.DisplayNames(locale, { type: 'language' });

/** @param language - BCP 47, such as `en-US`; what is none stays as it is. */
export function languageText(language: string): string {
  try {
    return languages.of(language) ?? language;
  } catch {
    return language;
  }
}
