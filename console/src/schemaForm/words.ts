import { locale } from '../texts.ts';
import type { JsonSchema } from './jsonSchema.ts';
import { ZH_HELP, ZH_HELP_BY_DESCRIPTION, ZH_NAMES, ZH_VALUES } from './wordsZh.ts';

const isChinese = locale === 'zh-TW';

/** Names that reading their letters does not explain. */
const NAMES: Readonly<Record<string, string>> = {
  http: 'HTTP request',
  url: 'URL',
  to: 'Transfer to',
  trunkId: 'Trunk',
  topK: 'Chunks at most',
  returns: 'Returns to where it was',
  type: 'Type',
  bodyTemplate: 'Body',
  speakWhile: 'Said while it runs',
  resultMapping: 'Variables from the result',
  variableConfigs: 'Variables',
  chat: 'Chat model',
};

const VALUES: Readonly<Record<string, string>> = {
  dtmf: 'Keys pressed (DTMF)',
  silence: 'Silence',
  not_understood: 'Not understood three times in a row',
  opt_out: 'The person wants no more calls',
  tool_result: 'A tool has answered',
  voicemail: 'An answering machine',
  screening: 'A call screening service',
  transfer: 'A transfer has returned the caller',
};

/** Where the document's description speaks of its JSON. */
const HELP: Readonly<Record<string, string>> = {
  executionMode: 'Which of the installation’s chat models answers. Default: balance.',
  sessionIdleMinutes:
    'A session without activity for this many minutes is ended. Default: as in the project, and 60 for chats where the project has none.',
  transferTargets:
    'The only targets of transfers by the model, variables, the API and bots. Empty: all that the project may call. A fixed target of a transfer node is always allowed.',
  notUnderstood:
    'What happens with a caller of whom no word was recognized three times in a row, where no edge for that and no fallback leaves the node. Before, the agent asks again twice, and names what can be said or pressed.',
  engine:
    'On the phone: a speech-to-speech model that hears the caller and speaks itself, in place of recognition, chat model and synthesis. Where it fails, in the middle of a call too, these take over.',
  beforeStartConfig:
    'A server of yours that is asked before a call is answered or dialed, and before the first turn of other sessions. It may answer with variables, a greeting, a language, a node to begin at, or a refusal.',
  postSessionWebhook: 'Gets the data of each session once, after its end.',
  condition:
    'When the edge is taken; without a condition, always. Of several, an event that happened comes first, then edges without a condition, then expressions, then sentences.',
};

/** The label of a property. */
export function nameOf(property: string): string {
  if (isChinese && ZH_NAMES[property] !== undefined) return ZH_NAMES[property];
  if (NAMES[property] !== undefined) return NAMES[property];
  const words = property
    .replace(/Ms$/, ' (ms)')
    .replace(/Seconds$/, ' (s)')
    .replace(/[_-]/g, ' ')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What a property means: its description in the document, or what stands here for it. */
export function helpOf(property: string, description: string | undefined): string | undefined {
  if (description === undefined && !(property in HELP)) return undefined;
  if (!isChinese) return HELP[property] ?? description;
  return ZH_HELP_BY_DESCRIPTION[description ?? ''] ?? ZH_HELP[property] ?? description;
}

/** The label of a value of an enumeration; most are the API's own words. */
export function valueNameOf(value: string): string {
  return (isChinese ? ZH_VALUES[value] : VALUES[value]) ?? value;
}

/** The label of a choice. In Chinese with the value, by which the help texts name it. */
export function choiceNameOf(value: string): string {
  const name = valueNameOf(value);
  return isChinese && name !== value ? `${name}（${value}）` : name;
}

/** What a branch of a union is. */
export function branchNameOf(branch: JsonSchema): string {
  if (branch.title !== undefined) return branch.title;
  const mark = Object.values(branch.properties ?? {}).find((property) => 'const' in property);
  if (mark) return valueNameOf(String(mark.const));
  const [sentence] = branch.description?.split(/\.(?:\s|$)/) ?? [];
  if (sentence) return isChinese ? (ZH_VALUES[sentence] ?? sentence) : sentence;
  return valueNameOf(kindNameOf(branch));
}

function kindNameOf({ type, enum: values, properties }: JsonSchema): string {
  if (values) return values.join(', ');
  if (properties) return Object.keys(properties).map(nameOf).join(', ');
  return nameOf(type === undefined ? 'json' : `${type}`);
}
