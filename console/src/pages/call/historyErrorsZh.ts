import { ERROR_TEXTS_ZH } from '../../api/errorTextsZh.ts';

/** Errors in the history of a session. What happened then is told, not what to do now. */
export const HISTORY_ERRORS_ZH: Readonly<Record<string, string>> = {
  ...ERROR_TEXTS_ZH,
  internal_error: '服務發生內部錯誤。',
  model_unavailable: '供應商沒有回應：',
  model_rejected: '供應商拒絕了要求：',
  model_malformed: '供應商的回應無法解讀：',
  engine_unavailable: '無法連上語音代理。',
  engine_lost: '與語音代理的連線中斷。',
  node_lost: '節點在這一輪對話中停止運作。',
  interrupted: '對方在回答開始前離開。',
  before_start_failed: '開始前的要求失敗：',
  reject_ignored: '忽略了 reject：它僅適用於通話。',
  unknown_start_node: '路徑中沒有指定的節點，因此從開始節點開始。',
  extraction_failed: '無法從對話擷取變數：',
  expression_failed: '連線的運算式失敗：',
  route_failed: '無法選擇下一條連線：',
  too_many_hops: '路徑不斷循環，卻沒有說話。',
  transfer_target_not_allowed: '轉接目標不在代理的 transferTargets 中：',
  reserved_variable: '這個變數由服務設定，無法更改：',
  knowledge_failed: '無法搜尋文件：',
  speech_failed: '語音合成失敗：',
  play_failed: '無法播放音檔：',
  stream_error: '閘道回報錯誤：',
  recording_failed: '錄音失敗：',
  media_lost: '通話的聲音中斷：',
};
