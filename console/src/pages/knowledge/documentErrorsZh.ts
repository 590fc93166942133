import { type Phrase, phraseIn } from '../../api/phrases.ts';

/** By the API's English text, which has no code. */
const TEXTS: readonly Phrase[] = [
  [/^The file holds no text$/, '檔案中沒有文字。'],
  [/^The file is damaged or cut off; upload it again$/, '檔案已損壞或不完整，請重新上傳。'],
  [/^The file is damaged, or made in a way that cannot be read$/, '檔案已損壞，或無法讀取其格式。'],
  [/^The file is protected by a password; save it without one$/, '檔案受密碼保護，請另存為沒有密碼的檔案。'],
  [/^The file has more than (\d+) parts$/, '檔案的組成超過 $1 個，無法讀取。'],
  [
    /^The file takes more than (\d+) s to read; split it into smaller ones$/,
    '讀取檔案需要超過 $1 秒，請拆成較小的檔案。',
  ],
  [
    /^The file needs more than (\d+) MB of memory to read; split it into smaller ones$/,
    '讀取檔案需要超過 $1 MB 的記憶體，請拆成較小的檔案。',
  ],
  [/^The file unpacks to far more than a document holds; it was not read$/, '檔案解壓縮後過大，因此未讀取。'],
  [
    /^The file repeats its text far more often than a document does; it was not read$/,
    '檔案的文字重複過多，因此未讀取。',
  ],
  [
    /^The file is named like JSON but is not valid JSON.*$/,
    '檔名為 JSON，但內容不是有效的 JSON：檔案不完整，或括號不成對。',
  ],
  [/^The JSON is nested more than (\d+) levels deep$/, 'JSON 的層數超過 $1 層。'],
  [/^The page is nested more than (\d+) levels deep$/, '網頁的層數超過 $1 層。'],
  [/^The file's XML is nested more than (\d+) levels deep$/, '檔案的 XML 層數超過 $1 層。'],
  [
    /^The process that read the file died twice; the file was not read$/,
    '讀取檔案的程序中斷兩次，因此未讀取。',
  ],
  [
    /^The table has more than (\d+) .+; split it into smaller ones$/,
    '表格的欄、列或儲存格超過 $1 個，請拆成較小的檔案。',
  ],
  [/^The mail is damaged, or nested too deeply, and cannot be read$/, '郵件已損壞或層數過多，無法讀取。'],
  [/^The PDF is an XFA form.*$/, '這份 PDF 是 XFA 表單，檔案中沒有頁面；請先列印成 PDF。'],
  [/^The PDF holds no text.*$/, 'PDF 中沒有文字，可能每頁都是圖片；請先以 OCR 轉成文字。'],
  [/^The PDF is protected by a password; save it without one$/, 'PDF 受密碼保護，請另存為沒有密碼的檔案。'],
  [/^The PDF is damaged or cut off and cannot be read$/, 'PDF 已損壞或不完整，無法讀取。'],
  [/^The PDF has more than (\d+) pages; split it$/, 'PDF 超過 $1 頁，請拆成多個檔案。'],
  [/^Page (\d+) of the PDF is damaged and cannot be read$/, 'PDF 的第 $1 頁已損壞，無法讀取。'],
  [/^The Word document is damaged: the part with its text is missing$/, 'Word 文件已損壞，無法讀取。'],
  [/^The spreadsheet is damaged: its list of sheets is missing$/, '試算表已損壞，無法讀取。'],
  [/^The presentation is damaged.*$/, '簡報已損壞：缺少投影片清單。'],
  [/^The table cannot be read: (.*)$/, '無法讀取表格：$1'],
  [
    /^The text’s encoding is not known, or the file is damaged; save it as UTF-8$/,
    '無法辨識文字編碼，或檔案已損壞；請存成 UTF-8。',
  ],
  [/^The type (.*) cannot be read$/, '無法讀取 $1 類型的檔案。'],
  [/^The uploaded file is gone; upload it again$/, '上傳的檔案已不存在，請重新上傳。'],
  [/^The file is empty$/, '檔案是空的。'],
  [/^The file has no column (.*); its columns are (.*)$/s, '檔案沒有欄位 $1；其欄位為 $2。'],
  [
    /^No node has had the uploaded file for (\d+) seconds; send it again$/,
    '$1 秒內沒有節點有上傳的檔案，請重新傳送。',
  ],
  [/^Reading the file was interrupted too often$/, '讀取檔案中斷太多次。'],
  [
    /^The embedding model (.*) is not configured: no key or base URL is set$/,
    '嵌入模型 $1 尚未設定：沒有金鑰或 base URL。',
  ],
  [/^The chunks could not be embedded: (.*)$/, '無法產生片段的嵌入向量：$1'],
  [/^An internal error; see the service’s log$/, '服務發生內部錯誤，請查看服務的紀錄。'],
];

/** Why a document or a list cannot be read; as the API says it where its text is not known here. */
export function documentErrorZh(message: string): string {
  return phraseIn(TEXTS, message) ?? message;
}
