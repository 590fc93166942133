import {
  isOpenAi,
  OPENAI_SPEECH_MODEL,
  OPENAI_TRANSCRIPTION_MODEL,
} from '../../models/ports/speechModels.ts';
import type { Config } from './config.ts';
import type { SettingName } from './settings.ts';

export interface ConfiguredModel {
  readonly setting: SettingName;
  readonly provider: string;
  readonly model: string;
}

/** The models that the settings name, and OpenAI's defaults where they name none. */
export function configuredModels(config: Config): ConfiguredModel[] {
  const { CHAT_PROVIDER, CHAT_MODELS, STT_PROVIDER, TTS_PROVIDER } = config;
  // Servers like OpenAI's have models of their own behind the names that they are asked for.
  const hears = STT_PROVIDER === 'openai' && isOpenAi(config.STT_BASE_URL ?? config.OPENAI_BASE_URL);
  const speaks = TTS_PROVIDER === 'openai' && isOpenAi(config.TTS_BASE_URL ?? config.OPENAI_BASE_URL);
  const heardBy = config.STT_MODEL ?? (hears ? OPENAI_TRANSCRIPTION_MODEL : undefined);
  const spokenBy = config.TTS_MODEL ?? (speaks ? OPENAI_SPEECH_MODEL : undefined);
  const chat = (setting: SettingName, model: string) => ({ setting, provider: CHAT_PROVIDER, model });
  const models: ConfiguredModel[] = [
    chat('CHAT_MODEL_SMART', CHAT_MODELS.smart),
    chat('CHAT_MODEL_BALANCE', CHAT_MODELS.balance),
    chat('CHAT_MODEL_TURBO', CHAT_MODELS.turbo),
  ];
  if (heardBy !== undefined) models.push({ setting: 'STT_MODEL', provider: STT_PROVIDER, model: heardBy });
  if (spokenBy !== undefined) models.push({ setting: 'TTS_MODEL', provider: TTS_PROVIDER, model: spokenBy });
  return models.filter(({ provider }) => provider !== 'local');
}
