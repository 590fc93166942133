import type { Situation } from '../situation.ts';
import type { VariableConfig } from '../variableConfig.ts';
import { overlap } from './words.ts';

const NUMBER_WORDS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const NAME =
  /\b(?:my name is|i am|i['’]m|this is|call me)\s+([\p{Lu}][\p{L}'’-]*(?:\s+[\p{Lu}][\p{L}'’-]*)*)/iu;
const EMAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/;
const PHONE = /\+?\d[\d\s().-]{6,}\d/;
const LONGEST_SHORT_ANSWER_WORDS = 6;
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** The values that the person's words give, by rule; null for each that they do not. */
export function extractValues(situation: Situation): Record<string, unknown> {
  const { variableConfigs = [], lastUserText = '' } = situation;
  return Object.fromEntries(
    variableConfigs.map((config) => [config.name, valueOf(config, lastUserText, situation)]),
  );
}

function valueOf(config: VariableConfig, text: string, situation: Situation): unknown {
  switch (config.type) {
    case 'number':
      return numberIn(text);
    case 'boolean':
      return booleanIn(config, text, situation);
    case 'date':
      return dateIn(text, situation.today);
    case 'enum':
      return config.values?.find((value) => text.toLowerCase().includes(value.toLowerCase())) ?? null;
    case 'string':
      return stringIn(config, text, situation);
  }
}

function numberIn(text: string): number | null {
  const [digits] = /-?\d+(?:[.,]\d+)?/.exec(text.replace(/\d{4}-\d{2}-\d{2}/g, '')) ?? [];
  if (digits !== undefined) return Number(digits.replace(',', '.'));
  const index = NUMBER_WORDS.findIndex((word) => new RegExp(`\\b${word}\\b`, 'i').test(text));
  return index < 0 ? null : index;
}

function booleanIn(config: VariableConfig, text: string, situation: Situation): boolean | null {
  if (!isAsked(config, situation)) return null;
  if (/^(no|nope|not|不|沒|没)/i.test(text.trim())) return false;
  return /^(yes|yeah|yep|sure|ok|correct|好|是|對|对)/i.test(text.trim()) ? true : null;
}

function dateIn(text: string, today: string | undefined): string | null {
  const [iso] = /\d{4}-\d{2}-\d{2}/.exec(text) ?? [];
  if (iso !== undefined) return iso;
  if (today === undefined) return null;
  const base = new Date(`${today}T00:00:00Z`);
  const inDays = (days: number) => new Date(base.getTime() + days * 86_400_000).toISOString().slice(0, 10);
  if (/\bday after tomorrow\b/i.test(text)) return inDays(2);
  if (/\btomorrow\b|明天/i.test(text)) return inDays(1);
  if (/\btoday\b|今天/i.test(text)) return inDays(0);
  const day = DAYS.findIndex((name) => new RegExp(`\\b${name}\\b`, 'i').test(text));
  return day < 0 ? null : inDays((day - base.getUTCDay() + 7) % 7 || 7);
}

function stringIn(config: VariableConfig, text: string, situation: Situation): string | null {
  const about = `${config.name} ${config.description}`;
  if (/e-?mail/i.test(about)) return EMAIL.exec(text)?.[0] ?? null;
  if (/phone|number/i.test(about)) return PHONE.exec(text)?.[0].trim() ?? null;
  if (/name/i.test(about)) {
    const [, name] = NAME.exec(text) ?? [];
    if (name !== undefined) return name;
  }
  const isShort = text.trim() !== '' && text.trim().split(/\s+/).length <= LONGEST_SHORT_ANSWER_WORDS;
  return isShort && isAsked(config, situation) ? text.trim().replace(/[.!?。！？]+$/, '') : null;
}

/** Whether the node's prompt asks for just this. */
function isAsked(config: VariableConfig, { node }: Situation): boolean {
  const prompt = node ? `${node.title} ${node.prompt}` : '';
  return (
    overlap(config.description || config.name, prompt) >= 0.5 ||
    overlap(config.name.replaceAll('_', ' '), prompt) === 1
  );
}
