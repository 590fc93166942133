import type { SituationNode } from './request.ts';
import { CJK } from './terms.ts';

const MAX_PASSAGE_CHARACTERS = 400;

const QUOTED_LINE = /"([^"]+)"|“([^”]+)”|「([^」]+)」|『([^』]+)』|«([^»]+)»/gu;
const SAID_AFTER_COLON = /\b(?:say|answer|reply|ask)\s*:\s*([^\n]+)/giu;
/** Text before a quotation of the user, not of the agent. */
const PERSON_SAYS =
  /\b(?:if|when|whether|unless)\b[^.!?\n]*$|\b(?:caller|customer|user|person|they|he|she)\s+(?:says?|answers?|asks?|replies)\b[^.!?\n]*$|(?:如果|若|當|当)[^。！？\n]*$/iu;
/** Text before a quotation that names something, or that is not to be said. */
const NOT_A_LINE =
  /\b(?:never|not|avoid|without|instead of|called|named|tool|variable|field|marked|titled)\b[^.!?\n]*$/iu;

/** The words for prompts without a spoken line, since an instruction must not be read to the caller. */
const WITHOUT_LINE: Readonly<Record<string, string>> = {
  start: 'Hello! How can I help you?',
  end: 'Goodbye.',
  transfer: 'One moment, please.',
};
const NO_LINE = 'The rehearsal model has no line for this step: quote one in its prompt.';

/**
 * The agent's text at a node: the lines that its prompt quotes, or else a sentence for each instruction that has one.
 */
export function nodeText({ prompt, title, type }: SituationNode): string {
  if (type === 'say') return prompt.trim();
  const lines = quotedLines(prompt);
  if (lines.length > 0) return lines.reduce(joinLines);
  const derived = [prompt, title].map(sentencesFor).find((sentences) => sentences.length > 0);
  return derived?.join(' ') ?? WITHOUT_LINE[type] ?? NO_LINE;
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
    .filter(({ index }) => {
      const before = prompt.slice(0, index).replaceAll(QUOTED_LINE, '');
      return !PERSON_SAYS.test(before) && !NOT_A_LINE.test(before);
    })
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
  [/^collect (the .+)/, (about) => `Could you tell me ${about}?`],
  [
    /^(?:get|collect|find out) ((?:your|what|when|where|which|who|why|how)\b.+)/,
    (about) => `Could you tell me ${about}?`,
  ],
  [/^(?:confirm|verify|repeat) (.+)/, (about) => `Let me confirm ${about}.`],
  [/^(?:greet|welcome) (\p{Lu}[\p{L}'’-]*)/u, (name) => `Hello, ${name}!`],
  [/^(?:greet|welcome|introduce)\b/, () => 'Hello!'],
  [/^thank (?:you )?for (.+)/, (about) => `Thank you for ${about}.`],
  [/^thank\b/, () => 'Thank you.'],
  [/^(?:say (?:good ?bye|farewell)|bid\b.*farewell|end the (?:call|conversation)|hang up)/, () => 'Goodbye.'],
  [/^apologi[sz]e for (.+)/, (about) => `I am sorry for ${about}.`],
  [/^apologi[sz]e\b/, () => 'I am sorry about that.'],
  [/^(?:tell|inform|let|remind)(?: you)?(?: know)? that (.+)/, (about) => asSentence(about)],
  [/^say that (.+)/, (about) => asSentence(about)],
  [/^offer to (.+)/, (about) => `Would you like me to ${about}?`],
  [/^offer (.+)/, (about) => `I can offer you ${about}.`],
];

/** Matches the manner or the condition of an instruction. */
const MANNER =
  /\s*\b(?:in (?:one|two|three|a|at most|no more than|your own) [\w ]*?(?:sentences?|words?)|one (?:question |thing )?at a time|as well as you can|warmly|politely|briefly|kindly|clearly|slowly)\b/gi;
const CONDITION = /\b(?:if|when|unless|until|once|before|after|while|whenever|depending|as soon as)\b/i;
const ASKS_WHETHER = /\b(?:ask|find out)\b(?: \w+){0,3}? (?:if|whether|when)\b/gi;
/** Matches the place between two tasks of one sentence. */
const NEXT_TASK =
  /[,;]?\s+(?:and then|then)\s+|[,;]?\s+and\s+(?=(?:ask|confirm|thank|say|tell|offer|greet|inform|end|hang|note|call|use|help|answer|transfer)\b)|[,;]\s+(?=(?:ask|confirm|thank|say|tell|offer|greet|inform)\b)/i;
/** Matches the text after a comma that is not an item of a list. */
const AFTERTHOUGHT = /[,;:](?:\s+|$)(?!(?:and |or )?(?:the|a|an|your|their|his|her|my|our)\b).*$/i;

/** Words before an instruction, and its addressee. */
const LEAD = /^(?:then|and|next|first|finally|please|politely|kindly|briefly|warmly|just)\s+/;
const ADDRESSEE =
  /^(ask|thank|greet|welcome|tell|inform|offer|let|remind) (?:the )?(?:caller|customer|user|person|client|guest|them|him|her)\b/;

function sentencesFor(instructions: string): string[] {
  return instructions
    .split(/(?<=[.!?])\s+|\n+/)
    .filter((sentence) => !CONDITION.test(sentence.replaceAll(ASKS_WHETHER, '')))
    .flatMap((sentence) => sentence.replaceAll(MANNER, '').split(NEXT_TASK))
    .map((task) => sentenceFor(task.trim().replace(/[.!?,;]+$/, '')))
    .filter((sentence) => sentence !== '');
}

function sentenceFor(task: string): string {
  const plain = task.replace(AFTERTHOUGHT, '');
  let instruction = plain.charAt(0).toLowerCase() + plain.slice(1);
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
