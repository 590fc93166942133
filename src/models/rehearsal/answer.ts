import type { Situation } from '../situation.ts';

const QUOTED = /"([^"]+)"|“([^”]+)”|「([^」]+)」/g;
const LONGEST_PASSAGE_CHARACTERS = 400;

/**
 * What a node's prompt wants said, by rule: its quoted lines as they stand, else the instruction turned into words.
 * Says nothing that the prompt, the documents or the person did not say.
 */
export function answerOf({ node, knowledge = [] }: Situation): string {
  const [passage] = knowledge;
  if (passage) return passage.slice(0, LONGEST_PASSAGE_CHARACTERS);
  const prompt = node?.prompt.trim() ?? '';
  const quoted = [...prompt.matchAll(QUOTED)].map((match) => match.slice(1).find(Boolean) ?? '');
  if (quoted.length > 0) return quoted.join(' ');
  const [instruction = ''] = prompt.split(/(?<=[.!?。！？])\s*|\n/);
  return (
    turnIntoWords(instruction) ??
    (node ? `${node.title}.` : 'This is the rehearsal model; no chat model is set.')
  );
}

const RULES: readonly (readonly [RegExp, (rest: string) => string])[] = [
  [/^(?:greet|welcome)\b/i, () => 'Hello! How can I help you?'],
  [/^(?:say goodbye|thank .*goodbye|end the|wish)\b/i, () => 'Thank you, goodbye.'],
  [/^thank\b/i, () => 'Thank you.'],
  [
    /^ask (?:the (?:caller|person|customer|user) )?(?:for|about) (.+)/i,
    (rest) => `Could you tell me ${yours(rest)}?`,
  ],
  [
    /^ask (?:the (?:caller|person|customer|user) )?(what|which|when|where|who|how|if|whether) (.+)/i,
    (rest) => `Could you tell me ${yours(rest)}?`,
  ],
  [/^(?:find out|collect|get) (.+)/i, (rest) => `Could you tell me ${yours(rest)}?`],
  [/^confirm (.+)/i, (rest) => `Let me confirm ${yours(rest)}. Is that right?`],
  [
    /^(?:tell|inform) (?:the (?:caller|person|customer|user)|them) (?:that |about )?(.+)/i,
    (rest) => `${capital(yours(rest))}.`,
  ],
  [/^say:? (?:that )?(.+)/i, (rest) => `${capital(yours(rest))}.`],
  [/^offer (.+)/i, (rest) => `I can offer you ${yours(rest)}.`],
];

function turnIntoWords(instruction: string): string | undefined {
  for (const [pattern, say] of RULES) {
    const match = pattern.exec(instruction);
    if (match) return say(match.slice(1).filter(Boolean).join(' '));
  }
  return undefined;
}

/** An instruction speaks of the person; the person is spoken to. */
function yours(text: string): string {
  return text
    .replace(/[.!?。！？]+$/, '')
    .replace(/\b(?:the (?:caller|person|customer|user)|their)(?:['’]s)?\b/gi, (match) =>
      /['’]s$|their/i.test(match) ? 'your' : 'you',
    )
    .replace(/\bthey (are|were)\b/gi, 'you $1')
    .replace(/\bthey\b/gi, 'you');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
