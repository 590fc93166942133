import type { SituationNode } from './request.ts';
import { CJK } from './terms.ts';

const MAX_PASSAGE_CHARACTERS = 400;

const QUOTED_LINE = /"([^"]+)"|“([^”]+)”|「([^」]+)」|『([^』]+)』|«([^»]+)»/gu;
const SAID_AFTER_COLON = /\b(?:say|answer|reply|ask)\s*:\s*([^\n]+)/giu;
/** Text before a quotation of the user, not of the agent. */
const PERSON_SAYS =
  /\b(?:if|when|whether|unless)\b[^.!?\n]*$|\b(?:caller|customer|user|person|they|he|she)\s+(?:says?|answers?|asks?|replies)\b[^.!?\n]*$|(?:如果|若|當|当)[^。！？\n]*$/iu;

/**
 * The agent's text at a node: the lines that its prompt quotes, or else a sentence for each instruction in it, or else
 * the title.
 */
export function nodeText({ prompt, title, type }: SituationNode): string {
  if (type === 'say') return prompt.trim();
  const lines = quotedLines(prompt);
  if (lines.length > 0) return lines.reduce(joinLines);
  const derived = sentencesFor(prompt);
  if (derived.length > 0) return derived.join(' ');
  return sentencesFor(title)[0] ?? asSentence(title);
}

/** A retrieved passage, truncated at the end of a sentence. */
export function passageText(passage: string): string {
  const text = passage.replace(/\s+/g, ' ').trim();
  if (text.length <= MAX_PASSAGE_CHARACTERS) return text;
  const cut = text.slice(0, MAX_PASSAGE_CHARACTERS);
  const end = Math.max(...['. ', '! ', '? ', '。', '！', '？'].map((mark) => cut.lastIndexOf(mark)));
  return end > 0 ? cut.slice(0, end + 1) : `${cut.slice(0, Math.max(cut.lastIndexOf(' '), 1))}…`;
}

function quotedLines(prompt: string): string[] {
  const quoted = [...prompt.matchAll(QUOTED_LINE)]
    .filter(({ index }) => !PERSON_SAYS.test(prompt.slice(0, index)))
    .map((match) => match.slice(1).find((line) => line !== undefined) ?? '');
  const lines =
    quoted.length > 0 ? quoted : [...prompt.matchAll(SAID_AFTER_COLON)].map(([, line]) => line ?? '');
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

function joinLines(one: string, other: string): string {
  return CJK.test(one.slice(-2)) && CJK.test(other.charAt(0)) ? one + other : `${one} ${other}`;
}

/** Instructions and what the agent says to follow them; `$1` is the subject. */
const RULES: readonly (readonly [RegExp, (about: string) => string])[] = [
  [/^ask (?:if|whether) (?:i|you) (.+)/, (about) => yesNoQuestion(about)],
  [/^ask how I (?:can|could|may) (?:help|assist)/, () => 'How can I help you?'],
  [/^ask (?:for|about) (.+)/, (about) => `Could you tell me ${about}?`],
  [/^ask ((?:what|when|where|which|who|why|how)\b.+)/, (about) => `Could you tell me ${about}?`],
  [/^(?:get|collect|take|request|find out) (.+)/, (about) => `Could you tell me ${about}?`],
  [/^(?:confirm|verify|check|repeat) (.+)/, (about) => `Let me confirm ${about}.`],
  [/^(?:greet|welcome) (\p{Lu}[\p{L}'’-]*)/u, (name) => `Hello, ${name}!`],
  [/^(?:greet|welcome|introduce)\b/, () => 'Hello!'],
  [/^thank (?:you )?for (.+)/, (about) => `Thank you for ${about}.`],
  [/^thank\b/, () => 'Thank you.'],
  [/^(?:say (?:good ?bye|farewell)|bid\b.*farewell|end the (?:call|conversation)|hang up)/, () => 'Goodbye.'],
  [/^apologi[sz]e for (.+)/, (about) => `I am sorry for ${about}.`],
  [/^apologi[sz]e\b/, () => 'I am sorry about that.'],
  [/^(?:tell|inform|let|remind)(?: you)?(?: know)?(?: that)? (.+)/, (about) => asSentence(about)],
  [/^say (?:that )?(.+)/, (about) => asSentence(about)],
  [/^offer to (.+)/, (about) => `Would you like me to ${about}?`],
  [/^offer (.+)/, (about) => `I can offer you ${about}.`],
];

/** Words before an instruction, and its addressee. */
const LEAD = /^(?:then|and|next|first|finally|please|politely|kindly|briefly|warmly|just)\s+/;
const ADDRESSEE =
  /^(ask|thank|greet|welcome|tell|inform|offer|let|remind) (?:the )?(?:caller|customer|user|person|client|guest|them|him|her)\b/;

function sentencesFor(instructions: string): string[] {
  const tasks = instructions
    .split(
      /(?<=[.!?])\s+|\n+|[,;]?\s+(?:and then|then)\s+|\s+and\s+(?=(?:ask|confirm|thank|say|tell|offer|greet|inform)\b)/i,
    )
    .map((task) => task.trim().replace(/[.!?]+$/, ''));
  return tasks.map(sentenceFor).filter((sentence) => sentence !== '');
}

function sentenceFor(task: string): string {
  let instruction = task.charAt(0).toLowerCase() + task.slice(1);
  while (LEAD.test(instruction)) instruction = instruction.replace(LEAD, '');
  const spoken = toListener(instruction.replace(ADDRESSEE, '$1'));
  for (const [pattern, say] of RULES) {
    const match = pattern.exec(spoken);
    if (match) return say((match[1] ?? '').trim());
  }
  return '';
}

/** Rewrites an instruction about the user as a sentence to the user. */
function toListener(instruction: string): string {
  return instruction
    .replace(/\byou are\b/g, 'I am')
    .replace(/\byou\b/g, 'I')
    .replace(/\byour\b/g, 'my')
    .replace(/\b(?:the )?(?:caller|customer|user|person|client|guest)['’]s\b/gi, 'your')
    .replace(/\b(?:their|his|her)\b/gi, 'your')
    .replace(/\b(?:the )?(?:caller|customer|user|person|client|guest)\b/gi, 'you')
    .replace(/\b(?:they|he|she|them|him)\b/gi, 'you')
    .replace(
      /\byou (has|is|was|wants|needs|likes|agrees)\b/g,
      (_, verb: string) => `you ${PLURAL[verb] ?? verb}`,
    );
}

const PLURAL: Readonly<Record<string, string>> = {
  has: 'have',
  is: 'are',
  was: 'were',
  wants: 'want',
  needs: 'need',
  likes: 'like',
  agrees: 'agree',
};

/** "would like to book" becomes "Would you like to book?". */
function yesNoQuestion(about: string): string {
  const [verb = '', ...rest] = about.split(' ');
  if (!/^(?:would|will|can|could|should|are|were|do|did|may|might)$/.test(verb)) return `Do you ${about}?`;
  return `${verb.charAt(0).toUpperCase()}${verb.slice(1)} you ${rest.join(' ')}?`;
}

function asSentence(phrase: string): string {
  const text = phrase.trim();
  if (text === '') return '';
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  if (/[.!?。！？…]$/.test(sentence)) return sentence;
  return sentence + (CJK.test(sentence.slice(-1)) ? '。' : '.');
}
