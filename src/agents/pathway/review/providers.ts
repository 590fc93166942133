import { jsonPointer } from '../../../base/validation.ts';
import { matchLanguage } from '../../../base/values/languageCode.ts';
import { type ChatEndpoint, engineCredentialName } from '../../../models/ports/providerNames.ts';
import { type CredentialName, credentialName } from '../../../vendors/credentials.ts';
import {
  type RecognitionProvider,
  recognitionVendor,
  type SynthesisProvider,
  synthesisVendor,
  unheardLanguages,
} from '../../../vendors/registry.ts';
import type { AgentConfig } from '../../agentConfig.ts';
import { type ChatConfig, chatChoices, chatOf } from '../../chat/chatConfig.ts';
import type { EngineConfig } from '../../speech/engineConfig.ts';
import {
  type RecognitionChoice,
  type SpeechConfig,
  type SynthesisChoice,
  speechOf,
  wrongOptions,
} from '../../speech/speechConfig.ts';
import type { Pathway } from '../schema/pathwaySchema.ts';
import type { Problem } from './problem.ts';

/** The providers of the installation and of the project. */
export interface KnownProviders {
  /** The providers that have credentials. */
  readonly configured: ReadonlySet<CredentialName>;
  /** The recognition provider that serves when neither agent nor node names one. */
  readonly recognition: RecognitionProvider;
  readonly synthesis: SynthesisProvider;
  readonly chat: ChatEndpoint;
}

type Path = readonly PropertyKey[];

/** Choices of agent and nodes that cannot work, and would leave the call to the next provider or to the settings. */
export function findProviderProblems(
  { nodes }: Pathway,
  agent: AgentConfig,
  known: KnownProviders,
): Problem[] {
  const ofAgent = [
    ...speechProblems(agent.speech ?? {}, ['agent', 'speech'], known),
    ...chatProblems(agent.chat ?? {}, ['agent', 'chat'], known),
    ...engineProblems(agent.engine, ['agent', 'engine'], known),
  ];
  const told = new Set(ofAgent.map(({ message }) => message));
  const ofNodes = nodes.flatMap(({ data }, index) => [
    ...(data.speech
      ? speechProblems(speechOf(agent.speech, data.speech), ['nodes', index, 'data', 'speech'], known)
      : []),
    ...(data.chat
      ? chatProblems(chatOf(agent.chat, data.chat), ['nodes', index, 'data', 'chat'], known)
      : []),
    ...engineProblems(data.engine, ['nodes', index, 'data', 'engine'], known),
  ]);
  return [...ofAgent, ...ofNodes.filter(({ message }) => !told.has(message))];
}

function speechProblems(speech: SpeechConfig, path: Path, known: KnownProviders): Problem[] {
  const { recognition = {}, synthesis = {}, voices = {}, fallback } = speech;
  const heardBy = [
    ['recognition', recognition] as const,
    ...(fallback?.recognition ?? []).map((entry, at) => [`fallback/recognition/${at}`, entry] as const),
  ];
  const spokenBy = [
    ['synthesis', synthesis] as const,
    ...Object.entries(voices).map(([tag, voice]) => [`voices/${tag}`, voice] as const),
    ...(fallback?.synthesis ?? []).map((entry, at) => [`fallback/synthesis/${at}`, entry] as const),
  ];
  return [
    ...heardBy.flatMap(([place, choice]) =>
      recognitionProblems(choice, [...path, ...place.split('/')], known),
    ),
    ...heardBy.flatMap(([place, choice]) =>
      unheardProblems(speech, choice, [...path, ...place.split('/')], known),
    ),
    ...spokenBy.flatMap(([place, choice]) =>
      synthesisProblems(choice, [...path, ...place.split('/')], known),
    ),
    ...languageProblems(speech, path, known),
  ];
}

function recognitionProblems(choice: RecognitionChoice, path: Path, known: KnownProviders): Problem[] {
  const { provider = known.recognition, model, keyterms = [], options } = choice;
  const { options: schemaOf, takesKeyterms = () => true } = recognitionVendor(provider);
  return [
    ...credentialProblems('stt', choice.provider, path, known),
    ...optionProblems(options && wrongOptions(provider, schemaOf({ model, options }), options), path),
    ...(keyterms.length > 0 && !takesKeyterms(choice)
      ? [
          warning('keyterms_ignored', `${provider} takes no keyterms here; they have no effect`, [
            ...path,
            'keyterms',
          ]),
        ]
      : []),
  ];
}

/** The call would hear nothing, or nonsense. */
function unheardProblems(
  { recognition, languages = [] }: SpeechConfig,
  choice: RecognitionChoice,
  path: Path,
  known: KnownProviders,
): Problem[] {
  const { provider = known.recognition, model, language = recognition?.language } = choice;
  const spoken = language === undefined ? languages : [language];
  return unheardLanguages(provider, model, spoken).map((tag) =>
    warning('language_not_heard', `${model ?? provider} is not known to hear ${tag}`, path),
  );
}

function synthesisProblems(choice: SynthesisChoice, path: Path, known: KnownProviders): Problem[] {
  const { provider = known.synthesis, options } = choice;
  return [
    ...credentialProblems('tts', choice.provider, path, known),
    ...optionProblems(options && wrongOptions(provider, synthesisVendor(provider).options, options), path),
  ];
}

function chatProblems(chat: ChatConfig, path: Path, known: KnownProviders): Problem[] {
  return chatChoices(chat).flatMap(({ endpoint }, at) =>
    credentialProblems('chat', endpoint, at === 0 ? path : [...path, 'fallback', at - 1], known, 'endpoint'),
  );
}

function engineProblems(
  engine: EngineConfig | null | undefined,
  path: Path,
  { configured }: KnownProviders,
): Problem[] {
  if (!engine) return [];
  return unconfigured(
    engine.provider,
    engineCredentialName(engine.provider),
    [...path, 'provider'],
    configured,
  );
}

/** Only of what is named: a start refuses settings without credentials. */
function credentialProblems(
  kind: Parameters<typeof credentialName>[0],
  provider: Parameters<typeof credentialName>[1] | undefined,
  path: Path,
  { configured }: KnownProviders,
  field = 'provider',
): Problem[] {
  const name = provider && credentialName(kind, provider);
  return name ? unconfigured(provider, name, [...path, field], configured) : [];
}

function unconfigured(
  provider: string,
  name: CredentialName,
  path: Path,
  configured: KnownProviders['configured'],
): Problem[] {
  if (configured.has(name)) return [];
  const message = `${provider} has no credentials here; PUT …/providers/${name}, or set ${name.toUpperCase()}_API_KEY`;
  return [warning('provider_without_credentials', message, path)];
}

function optionProblems(issues: ReturnType<typeof wrongOptions> | undefined, path: Path): Problem[] {
  return (issues ?? []).map((issue) =>
    warning('wrong_option', `${issue.path.join('.')} ${issue.message}`, [...path, 'options', ...issue.path]),
  );
}

function languageProblems(speech: SpeechConfig, path: Path, known: KnownProviders): Problem[] {
  const { languages = [], voices = {}, recognition = {}, synthesis = {} } = speech;
  const [provider, speaker] = [
    recognition.provider ?? known.recognition,
    synthesis.provider ?? known.synthesis,
  ];
  const tags = Object.keys(voices);
  const voiceless = languages.filter((language) => matchLanguage(language, tags) === undefined);
  const needsVoices = tags.length > 0 || (languages.length > 1 && synthesisVendor(speaker).isMonolingual);
  const problems = needsVoices
    ? voiceless.map((language) =>
        warning('voice_missing', `${language} has no voice of its own; add it to voices`, [
          ...path,
          'voices',
        ]),
      )
    : [];
  const { tellsLanguages = () => true } = recognitionVendor(provider);
  if (languages.length < 2 || tellsLanguages(recognition)) return problems;
  const message = `${provider} does not tell which language is spoken, so that the conversation stays in one`;
  return [...problems, warning('language_not_told', message, [...path, 'languages'])];
}

function warning(code: Problem['code'], message: string, path: Path): Problem {
  return { severity: 'warning', code, message, path: jsonPointer(path) };
}
