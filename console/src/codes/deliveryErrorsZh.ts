import { ERROR_TEXTS_ZH } from '../api/errorTextsZh.ts';

/** Why a delivery failed, beside the codes that responses of the API have. */
export const DELIVERY_ERRORS_ZH: Readonly<Record<string, string>> = {
  ...ERROR_TEXTS_ZH,
  unexpected_status: '接收端的回應不是 2xx；重新導向不會跟隨。',
  webhook_target_missing: '代理沒有設定這個 Webhook。',
  target_invalid_url: '網址無效：',
  target_not_https: '網址必須使用 https。',
  target_has_credentials: '網址不得含有帳號或密碼。',
  target_private_address: '網址指向私人或保留的位址：',
  target_header_invalid: '標頭無效：',
  dns_failed: '無法解析主機名稱：',
  connect_failed: '無法連線：',
  tls_failed: 'TLS 連線失敗：',
  connection_lost: '連線中斷：',
  response_invalid: '接收端的回應不是有效的 HTTP。',
  response_too_large: '接收端的回應太大。',
  response_encoded: '接收端回應的編碼無法處理。',
  timeout: '接收端沒有及時回應。',
  aborted: '傳送已取消。',
  internal_error: '服務發生內部錯誤。',
};
