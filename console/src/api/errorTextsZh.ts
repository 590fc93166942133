import { messageTextZh } from './messageTextsZh.ts';

/** An error as the API tells it. */
export interface ErrorBody {
  readonly message: string;
  readonly code: string;
  readonly details?: readonly { readonly path?: string; readonly message: string }[];
}

/**
 * What an error means, by its code. A text that ends with a colon is followed by the API's own message, which names the
 * field or the value.
 */
export const ERROR_TEXTS_ZH: Readonly<Record<string, string>> = {
  // Sign-in and rights
  invalid_credential: '權杖或金鑰無效、已被撤銷，或不屬於這個專案。',
  missing_credential: '尚未登入，或登入已過期。請重新登入。',
  missing_scope: '這把金鑰沒有所需的權限：',
  forbidden: '沒有權限執行此操作。',
  console_header_required: '此要求不是由主控台發出，因此被拒絕。請重新載入頁面。',
  project_required: '請先選擇專案。',
  cidr_needs_operator: '這個來源網段過大，或與其他專案重疊，需由系統管理員設定。',
  private_trunk_needs_operator: '私人網路中的中繼線需由系統管理員設定。',
  origin_not_allowed: '這個權杖不適用於此網站。請將網站加入 allowedOrigins。',
  token_expired: '小工具的權杖已過期。',

  // What is wrong with a request
  invalid_request: '輸入的內容有誤：',
  invalid_json: '內容不是有效的 JSON：',
  invalid_text: '文字含有無法使用的字元。',
  invalid_utf8: '內容不是有效的 UTF-8 文字。',
  json_too_deep: '資料的層數太多。',
  too_many_values: '資料的項目太多。',
  session_too_large: '這個對話太長，請開始新的對話。',
  item_too_large: '內容太長，請縮短後再試。',
  body_too_large: '內容太大。',
  value_not_storable: '內容含有無法儲存的字元。',
  check_too_slow: '結構描述或規則運算式過於複雜，請簡化：',
  template_error: '範本有誤：',
  invalid_target: '網址無法使用：',
  invalid_tool: '工具的設定有誤：',
  secret_needed_again: '位址屬於另一個伺服器，請重新輸入密碼或標頭。',
  invalid_mcp_server: 'MCP 伺服器的設定有誤：',
  invalid_provider: '供應商的設定有誤：',
  invalid_trunk: '中繼線的設定有誤：',
  invalid_number: '電話號碼無效：',
  invalid_transfer: '轉接的設定有誤：',
  invalid_transfer_target: '轉接目標無效：',
  invalid_content_type: '不支援此檔案類型：',
  invalid_mapping: '欄位的對應有誤：',
  unsupported_file: '請選擇表格檔：CSV 或 XLSX。',
  invalid_multipart: '無法讀取上傳的內容。',
  missing_file: '沒有檔案。',
  too_many_files: '一次上傳的檔案太多。',
  file_too_large: '檔案太大。',
  wav_invalid: '無法讀取這個 WAV 檔：',
  unknown_voice: '沒有這個語音：',
  unknown_node: '路徑中沒有這個節點：',
  unknown_trunk: '沒有這條中繼線。',
  unknown_media: '沒有這個音檔。',
  unknown_test_case: '沒有這個測試案例：',
  start_node_required: '路徑必須有一個開始節點。',

  // What does not exist
  not_found: '找不到此內容，可能已被刪除。',
  project_not_found: '找不到這個專案。',
  agent_not_found: '找不到這個代理。',
  pathway_not_found: '找不到這條路徑。',
  pathway_version_not_found: '找不到路徑的這個版本。',
  tool_not_found: '找不到這個工具，可能已被刪除。',
  mcp_server_not_found: '找不到這個 MCP 伺服器。',
  provider_not_found: '沒有儲存這個供應商的憑證。',
  call_not_found: '找不到這通電話，可能已過保存期限。',
  session_not_found: '找不到這個工作階段，可能已結束或過期。',
  campaign_not_found: '找不到這個外撥活動。',
  customer_not_found: '找不到這位客戶。',
  recording_not_found: '沒有錄音，或錄音尚未完成。',
  media_file_not_found: '找不到這個音檔。',
  number_not_found: '找不到這個號碼。',
  participant_not_found: '這位參與者已不在通話中。',
  knowledgebase_not_found: '這個專案尚無知識庫。',
  dataset_not_found: '找不到這份文件。',
  chunk_not_found: '找不到這個片段。',
  chunks_not_found: '找不到片段。',
  test_case_not_found: '找不到這個測試案例。',
  test_suite_not_found: '找不到這個測試套件。',
  test_run_not_found: '找不到這次測試執行。',
  webhook_delivery_not_found: '找不到這筆 Webhook 傳送紀錄。',

  // What the present state does not allow
  version_mismatch: '其他人已儲存較新的版本。',
  tool_in_use: '路徑仍在使用這個工具：',
  tool_of_mcp_server: '這個工具由 MCP 伺服器提供，請在該伺服器上更改。',
  trunk_in_use: '仍有號碼使用這條中繼線：',
  phone_number_exists: '這個號碼已存在。',
  number_taken: '這個號碼屬於其他專案。',
  number_already_queued: '撥往這個號碼的電話已在等候或進行中。',
  session_active: '這個工作階段尚未結束。',
  too_many_sessions: '工作階段過多，請縮短時間範圍。',
  analysis_not_configured: '來電者使用的語音代理沒有設定分析或評估項目。',
  session_id_in_use: '這個工作階段識別碼已被使用。',
  session_busy: '這個工作階段正在處理另一則訊息，請稍後再試。',
  session_changed: '工作階段已在其他地方變更，請再試一次。',
  session_ended: '工作階段已結束。',
  turn_lost: '這一輪對話已由其他節點接手，請再試一次。',
  callback_limit_exceeded: '今天已安排過三次回撥到這個號碼。',
  developer_key_required: '試用草稿版本需要開發者金鑰（dk_）。',
  say_queue_full: '已有 20 句話在等候播報，請稍候再試。',
  model_not_allowed: '此系統不允許使用這個模型。',
  idempotency_key_in_use: '同一個要求仍在處理中，請稍候再試。',
  idempotency_key_reused: '這個要求已用不同的內容送出過。',
  knowledgebase_exists: '這個專案已有知識庫。',
  dataset_ready: '這份文件已處理完成。',
  dataset_of_another_knowledgebase: '這份文件屬於其他知識庫。',
  delivery_body_not_kept: '未保留這筆傳送的內容，因此無法再次傳送。',
  customer_on_call: '這位客戶正在通話中，請於通話結束後再刪除。',
  test_run_ended: '這次測試執行已結束。',
  test_suite_too_large: '測試套件的案例太多。',
  too_many_assertions: '檢查項目太多。',
  no_test_cases: '沒有可執行的測試案例。',
  nothing_to_play: '這個工作階段沒有可重播的對話。',
  phone_tests_unavailable: '電話測試需要具備語音與媒體功能的節點。',
  words_too_long: '電話測試中的一句話太長。',

  // Calls
  destination_not_allowed: '這個專案不可撥打此號碼。請檢查通話限制。',
  call_limit_exceeded: '同時進行的通話已達專案上限，請稍後再試。',
  call_rate_exceeded: '新通話的數量已達上限，請稍後再試。',
  call_minutes_exhausted: '今天的通話分鐘數已用完。',
  call_spending_exhausted: '今天的通話預算已用完。',
  do_not_call: '這個號碼在勿撥名單上。',
  outside_calling_hours: '現在不在可撥時段內。',
  campaign_state: '外撥活動目前的狀態不允許此操作。',
  campaign_not_startable: '外撥活動無法開始。',
  campaign_full: '外撥活動的聯絡人已達 1,000,000 位。',
  not_before_too_late: '預定時間太晚。',
  call_ended: '通話已結束。',
  call_not_in_progress: '通話不在進行中。',
  call_not_recorded: '這通電話沒有錄音。',
  recording_unavailable: '存有這段錄音的節點目前沒有回應，請待其恢復後再試。',
  call_taken_over: '通話已由真人接手。',
  call_unavailable: '目前無法連上處理這通電話的節點，請再試一次。',
  agent_not_in_call: '代理目前不在這通電話中。',
  no_human_party: '通話中沒有可交談的真人。',
  transfer_in_progress: '電話正在轉接中。',
  transfer_failed: '轉接失敗：',
  transfer_unsupported: '對方的線路不支援這種轉接。',
  bridge_running: '電話已接通至另一方。',
  media_not_connected: '通話尚未接通聲音。',
  media_unavailable: '目前無法處理通話的聲音，請稍後再試。',
  supervision_unavailable: '目前無法監聽這通電話。',
  too_many_supervisors: '監聽這通電話的人太多。',
  too_many_participants: '通話的參與者已達上限。',
  dtmf_unsupported: '對方不接受按鍵音。',
  dtmf_interrupted: '按鍵音未能全部送出。',
  too_many_event_streams: '同時開啟的即時頁面太多，請關閉一些後再試。',

  // Limits and outages
  rate_limited: '要求過於頻繁，請稍後再試。',
  quota_exceeded: '已達專案的配額：',
  project_busy: '這個專案目前的要求太多，或範本過於複雜，請稍後再試。',
  widget_minutes_exhausted: '小工具今天的通話分鐘數已用完。',
  widget_concurrency_exceeded: '小工具同時進行的通話已達上限。',
  node_draining: '服務正在重新啟動，請稍後再試。',
  node_overloaded: '服務目前負載過高，請稍後再試。',
  database_unavailable: '目前無法連上資料庫，請稍後再試。',
  database_busy: '資料庫忙碌中，請稍後再試。',
  search_timeout: '搜尋超過時間上限；請改用較長或較少見的文字。',
  redis_unavailable: '目前無法連上 Redis，請稍後再試。',
  voice_unavailable: '目前沒有可用的語音節點，請稍後再試。',
  encoder_unavailable: '目前無法搜尋文件，請稍後再試：',
  engine_unavailable: '目前無法使用語音模型，請稍後再試。',
  model_unavailable: '目前無法使用語言模型，請稍後再試。',
  model_timeout: '語言模型沒有及時回應，請再試一次。',
  model_failed: '語言模型無法回答：',
  model_not_found: '沒有這個模型。',
  speech_rejected: '語音供應商拒絕了要求：',
  speech_unavailable: '語音供應商沒有回應，請稍後再試。',
  mcp_failed: 'MCP 伺服器沒有正確回應：',
  mcp_server_removed: 'MCP 伺服器已被移除。',
  internal_error: '服務發生內部錯誤，請再試一次。',
};

/** Text of an error's code, with the API's message where the text leaves room for it; the message alone without. */
export function errorTextZh(
  code: string,
  message: string,
  texts: Readonly<Record<string, string>> = ERROR_TEXTS_ZH,
): string {
  const text = Object.hasOwn(texts, code) ? texts[code] : undefined;
  if (text === undefined) return messageTextZh(message);
  return text.endsWith('：') ? text + messageTextZh(message) : text;
}

/** An error of the API, with what it says of fields. */
export function errorBodyZh({ code, message, details = [] }: ErrorBody): ErrorBody {
  return {
    code,
    message: errorTextZh(code, message),
    details: details.map((detail) => ({ ...detail, message: messageTextZh(detail.message) })),
  };
}
