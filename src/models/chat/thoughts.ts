/** The effect of a mark on the text after it. */
type Effect = 'hide' | 'show' | 'end_thought' | 'header' | 'body' | 'none';
/**
 * `presumed`: the text is held back, since the model's template begins the thought. `header`: the text names whose message
 * follows, or its channel.
 */
type State = 'shown' | 'hidden' | 'presumed' | 'header';

const THOUGHTS = [
  ...['think', 'thinking', 'thought', 'thoughts', 'reasoning', 'analysis', 'reflection', 'scratchpad'],
  ...['seed:think', 'mm:think', 'longcat_think'],
];
/** The marks that models write around tool calls that their server has not parsed. */
const CALLS = [
  ...['tool_call', 'tool_calls', 'toolcall', 'function_calls', 'minimax:tool_call', 'seed:tool_call'],
  ...['|dsml|function_calls', '|dsml|tool_calls'],
];
/** The marks that models write around their answer after a thought. */
const ANSWERS = ['answer', 'response'];
const tags = (names: readonly string[], before: string) => names.map((name) => `${before}${name}>`);

/** Marks of chat templates without bars on both sides, and what they do. */
const EFFECTS = new Map<string, Effect>([
  ...tags(THOUGHTS, '<').map((mark): [string, Effect] => [mark, 'hide']),
  ...tags(THOUGHTS, '</').map((mark): [string, Effect] => [mark, 'end_thought']),
  ...tags(CALLS, '<').map((mark): [string, Effect] => [mark, 'hide']),
  ...tags(CALLS, '</').map((mark): [string, Effect] => [mark, 'show']),
  ...[...tags(ANSWERS, '<'), ...tags(ANSWERS, '</')].map((mark): [string, Effect] => [mark, 'none']),
  // Llama, with the tool's name
  ['<function=', 'hide'],
  ['</function>', 'show'],
  // Mistral
  ['[think]', 'hide'],
  ['[/think]', 'end_thought'],
  ['[inst]', 'hide'],
  ['[/inst]', 'show'],
  ['[tool_calls]', 'hide'],
  ['<s>', 'none'],
  ['</s>', 'none'],
  // Apriel
  ['[begin final response]', 'end_thought'],
  ['[end final response]', 'none'],
  // EXAONE
  ['[|endofturn|]', 'none'],
  // Kimi
  ['◁think▷', 'hide'],
  ['◁/think▷', 'end_thought'],
  // Gemma
  ['<unused94>', 'hide'],
  ['<unused95>', 'end_thought'],
  ['<start_of_turn>', 'header'],
  ['<end_of_turn>', 'none'],
  ['<start_function_call>', 'hide'],
  ['<end_function_call>', 'show'],
  ['<bos>', 'none'],
  ['<eos>', 'none'],
  ['<|turn>', 'header'],
  ['<turn|>', 'none'],
  ['<|channel>', 'hide'],
  ['<channel|>', 'end_thought'],
  ['<|tool_call>', 'hide'],
  ['<tool_call|>', 'show'],
]);

/** `<|name|>` of gpt-oss, Qwen, Llama, DeepSeek, GLM and others; DeepSeek's bars are wide. All others are left out. */
const BARRED_EFFECTS: readonly (readonly [RegExp, Effect])[] = [
  [/^(?:im_start|start|channel|start_header_id|header_start|start_of_role)$/, 'header'],
  [/^(?:message|end_header_id|header_end|end_of_role)$/, 'body'],
  [/^(?:assistant|tool.*(?:end|suffix)|python_end|end_action|action_end|end_response)$/, 'show'],
  [/^(?:user|system|tool|observation|start_thinking|begin_of_thought|inner_prefix)$/, 'hide'],
  [/^(?:tool_calls?|tool.*(?:begin|start|prefix)|python_(?:tag|start)|start_action|action_start)$/, 'hide'],
  [/^(?:end_thinking|end_of_thought|inner_suffix)$/, 'end_thought'],
];

const escaped = (text: string) => text.replaceAll(/[[\]]/g, '\\$&').replaceAll('|', '[|｜]');
/** Returns a mark with the spelling of the tables above. */
const normalized = (mark: string) => mark.toLowerCase().replaceAll('｜', '|').replaceAll('▁', '_');
const BARRED = '<[|｜]([\\p{L}\\p{N}_▁-]{1,40})[|｜]>';
const MARK = new RegExp(`${BARRED}|${[...EFFECTS.keys()].map(escaped).join('|')}`, 'giu');
const MARK_STARTS = /[<[◁]/;
const PART_OF_BARRED = /^<[|｜][\p{L}\p{N}_▁-]{0,40}[|｜]?$/u;
/** The length of the longest mark. */
const MAX_MARK_CHARACTERS = 45;
/** Headers that end with their line: the others end with a mark. */
const HEADERS_OF_A_LINE: ReadonlySet<string> = new Set(['<|im_start|>', '<start_of_turn>', '<|turn>']);
const OWN_MESSAGE = /^\s*(?:$|assistant|model|final)/i;

export interface Spoken {
  readonly text: string;
  /** True when all text so far was a thought, because the model's template began it and only its end is written. */
  readonly endsThought: boolean;
}

/**
 * Leaves out of a model's answer what is not for the person: thoughts that the model writes as text, calls of tools that
 * its server has not read, messages of other roles, and the marks of its chat template. Text is held back only while it
 * may be the beginning of a mark. A mark in backticks is text, and so are `</s>` after an HTML `<s>` and `<answer>` of a
 * model that has not thought.
 */
export class SpokenText {
  #state: State;
  /** The end of the text that may be the beginning of a mark. */
  #held = '';
  /** The text of the state `presumed`. */
  #presumed = '';
  #header = '';
  #isHeaderOfALine = false;
  #hasStruck = false;
  #hasMarks = false;
  #hasThought = false;
  #hasText = false;
  /** The last character before `#held`. */
  #before = '';
  #endsThought = false;
  #out = '';

  /** @param beginsWithThought - True when the model's template begins a thought. */
  constructor(beginsWithThought = false) {
    this.#state = beginsWithThought ? 'presumed' : 'shown';
  }

  /** True when a thought was presumed and none has come. */
  get hasNoThought(): boolean {
    return this.#state === 'presumed';
  }

  add(chunk: string): Spoken {
    const text = this.#held + chunk;
    this.#out = '';
    this.#endsThought = false;
    let from = 0;
    if (MARK_STARTS.test(text)) {
      for (const match of text.matchAll(MARK)) {
        this.#pass(text.slice(from, match.index));
        const mark = normalized(match[0]);
        if (this.#isText(mark)) this.#pass(match[0]);
        else this.#onMark(mark, match[1]);
        from = match.index + match[0].length;
      }
    }
    const end = heldFrom(text, from);
    this.#pass(text.slice(from, end));
    this.#held = text.slice(end);
    return { text: this.#out, endsThought: this.#endsThought };
  }

  /**
   * @param hasCalls - True when the answer calls tools. Text that was presumed to be a thought is then not spoken.
   * @returns The text that was held back and is not a mark.
   */
  finish(hasCalls = false): string {
    const held = this.#held;
    this.#out = '';
    this.#held = '';
    this.#pass(held);
    if (this.#state !== 'presumed') return this.#out;
    return hasCalls ? '' : this.#presumed;
  }

  #isText(mark: string): boolean {
    if (this.#before === '`') return true;
    if (ANSWERS.includes(mark.replaceAll(/[</>]/g, ''))) return !this.#hasThought;
    const isHtml = mark === '<s>' ? this.#before !== '' : mark === '</s>' && this.#hasStruck;
    if (isHtml) this.#hasStruck = mark === '<s>';
    return isHtml;
  }

  #pass(text: string): void {
    if (text === '') return;
    this.#before = text.slice(-1);
    if (this.#state === 'header') {
      this.#readHeader(text);
      return;
    }
    if (this.#state === 'presumed') this.#presumed += text;
    if (this.#state !== 'shown') return;
    const shown = this.#hasMarks && !this.#hasText ? text.trimStart() : text;
    this.#hasText ||= shown !== '';
    this.#out += shown;
  }

  #readHeader(text: string): void {
    const end = this.#isHeaderOfALine ? text.search(/\s/) : -1;
    this.#header += end < 0 ? text : text.slice(0, end);
    if (end < 0) return;
    this.#endHeader();
    this.#pass(text.slice(end));
  }

  #endHeader(): void {
    this.#state = OWN_MESSAGE.test(this.#header) ? 'shown' : 'hidden';
  }

  #onMark(mark: string, name: string | undefined): void {
    this.#before = '';
    this.#hasMarks = true;
    const effect = name === undefined ? EFFECTS.get(mark) : effectOf(mark.slice(2, -2));
    if (this.#state === 'header' && effect !== 'body' && effect !== 'header') {
      if (this.#isHeaderOfALine) this.#endHeader();
      else return;
    }
    if (effect === 'end_thought') this.#endThought();
    if (effect === 'hide') this.#state = 'hidden';
    if (effect === 'show') this.#state = 'shown';
    if (effect === 'body' && this.#state === 'header') this.#endHeader();
    if (effect !== 'header') return;
    this.#state = 'header';
    this.#header = '';
    this.#isHeaderOfALine = HEADERS_OF_A_LINE.has(mark);
  }

  /** Ends a thought. An end without a beginning means that all text before it was a thought. */
  #endThought(): void {
    if (this.#state === 'shown' && !this.#hasThought) {
      this.#out = '';
      this.#hasText = false;
      this.#endsThought = true;
    }
    this.#hasThought = true;
    this.#state = 'shown';
  }
}

export function spokenText(answer: string): string {
  if (!MARK_STARTS.test(answer)) return answer;
  const spoken = new SpokenText();
  return spoken.add(answer).text + spoken.finish();
}

function effectOf(name: string): Effect {
  return BARRED_EFFECTS.find(([pattern]) => pattern.test(name))?.[1] ?? 'none';
}

/** Finds the end of the text that may be the beginning of a mark. Returns its index. */
function heldFrom(text: string, from: number): number {
  for (let at = Math.max(from, text.length - MAX_MARK_CHARACTERS); at < text.length; at += 1) {
    const isStart = MARK_STARTS.test(text.charAt(at)) && text.charAt(at - 1) !== '`';
    if (isStart && mayBecomeMark(text.slice(at))) return at;
  }
  return text.length;
}

function mayBecomeMark(part: string): boolean {
  const start = normalized(part);
  return PART_OF_BARRED.test(start) || [...EFFECTS.keys()].some((mark) => mark.startsWith(start));
}
