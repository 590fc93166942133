import { ZH_NAMES } from '../schemaForm/wordsZh.ts';
import { FIELD_PHRASES, WORDS } from './fieldTextsZh.ts';
import { type Phrase, phraseIn } from './phrases.ts';

/** Whole messages. */
const SENTENCES: readonly Phrase[] = [
  // Campaigns
  [/^It has no contacts to call$/, '沒有可撥打的聯絡人'],
  [
    /^None of its from numbers \((.+)\) is active and has an active trunk$/,
    '沒有已啟用且有可用中繼線的撥出號碼（$1）',
  ],
  [/^Its end has passed$/, '結束時間已過'],
  [/^No hour is open: .*$/, '沒有開放的時段：活動的時段與專案的可撥時段沒有交集'],
  [/^No hour before its end is open: .*$/, '結束前沒有開放的時段：活動的時段與專案的可撥時段沒有交集'],

  // Addresses
  [/^the URL is (\d+) characters long; at most (\d+) are allowed$/, '網址有 $1 個字元，最多 $2 個'],
  [/^the URL contains a space, a backslash.*$/, '網址含有空白、反斜線或控制字元，請以百分號編碼'],
  [/^the URL is not an absolute URL such as (\S+)$/, '網址必須完整，例如 $1'],
  [/^the URL contains a template mark such as \{\{;.*$/, '網址不可含有範本標記'],
  [/^the URL has a template in its host;.*$/, '網址的主機不可為範本；範本只能在主機之後的 / 後面'],
  [/^the URL has an unclosed template$/, '網址的範本沒有結尾'],
  [/^the URL contains a user name or a password;.*$/, '網址不可含有使用者名稱或密碼，請改以標頭傳送'],
  [/^the URL has a host that is neither.*$/, '網址的主機不是有效的名稱或 IP 位址'],
  [/^the URL has port 0;.*$/, '網址的連接埠必須是 1 至 65535'],
  [/^the URL's host is a (\S+) address;.*$/, '網址的主機是 $1 位址，必須能從公開網路連上'],
  [/^the URL must begin with (\S+?)(?:;.*)?$/, '網址必須以 $1 開頭'],
  [/^the URL must be without a path, such as (\S+)$/, '網址不可有路徑，例如 $1'],
  [/^the URL must be tcp:\/\/host:port$/, '網址必須是 tcp://host:port'],
  [/^twilio has none:.*$/, 'Twilio 不使用此欄位'],
  [/^at most (\d+) headers are allowed$/, '最多 $1 個標頭'],
  [/^(".*") is not a header name$/, '$1 不是標頭名稱'],
  [/^header (\S+) is set by the service.*$/, '標頭 $1 由服務設定，不可自訂'],
  [/^header (\S+) is longer than (\d+) characters$/, '標頭 $1 超過 $2 個字元'],
  [/^header (\S+) has a line break.*$/, '標頭 $1 的值含有換行，或 Latin-1 以外的字元'],
  [/^header (\S+) has no stored value$/, '標頭 $1 沒有已儲存的值'],
  [/^The address is of another server; give header (\S+) again$/, '位址屬於另一個伺服器，請重新輸入標頭 $1'],
  [
    /^The address is of another server; give the (?:headers|password) again$/,
    '位址屬於另一個伺服器，請重新輸入密碼或標頭',
  ],

  // Tools, templates and expressions
  [
    /^a bodyTemplate cannot be escaped for (.+); use.*$/,
    '$1 的內容不能使用範本；請改用 JSON、表單、XML 或 text/plain',
  ],
  [/^a body of type (.+) cannot be made from a template$/, '$1 類型的內容不能由範本產生'],
  [
    /^the body is sent as JSON, but its template does not make JSON$/,
    '內容以 JSON 傳送，但範本產生的不是 JSON',
  ],
  [/^the body is nested more than (\d+) levels deep$/, '內容超過 $1 層'],
  [/^a value makes a segment of the path.*$/, '有一個值使路徑含有 . 或 ..，會連到其他路徑'],
  [/^a value for a header has a line break.*$/, '標頭的值含有換行，或 Latin-1 以外的字元'],
  [/^tool (".*") is listed twice$/, '工具 $1 列了兩次'],
  [/^an expression must be an object with one operator$/, '運算式必須是只有一個運算子的物件'],
  [/^an expression must be nested at most (\d+) levels deep$/, '運算式最多 $1 層'],
  [/^exactly one operator is needed here, not (.+)$/, '此處必須剛好有一個運算子，而不是 $1'],
  [/^(.+) is not a JSONLogic operator; the operators are (.+)$/, '$1 不是 JSONLogic 運算子；可用的有 $2'],
  [/^(\S+) takes (at least \d+|\d+) arguments?, not (\d+)$/, '$1 {2} 個引數，而不是 $3 個'],
  [/^(\S+) takes (\d+) to (\d+) arguments, not (\d+)$/, '$1 要有 $2 至 $3 個引數，而不是 $4 個'],
  [/^the expression takes more than (\d+) (steps|ms)$/, '運算式過於複雜'],
  [/^the template takes more than (\d+) (steps|ms)$/, '範本過於複雜'],
  [/^the rendered text exceeds (\d+) characters$/, '產生的文字超過 $1 個字元'],
  [
    /^(?:the templates of a node|a template of this length) may have at most (\d+) tags and outputs$/,
    '範本最多 $1 個標籤與輸出',
  ],
  [/^a tag may have at most (\d+) characters$/, '一個標籤最多 $1 個字元'],
  [/^a value with templates may be nested (\d+) levels deep$/, '含範本的值最多 $1 層'],
  [
    /^values are required for the type enum, and allowed for no other$/,
    '類型為 enum 時必須列出可選值，其他類型則不可',
  ],
  [/^(\S+) has no voice “(.*)”$/, '$1 沒有語音「$2」'],

  [/^the expression makes a value longer than (\d+)$/, '運算式產生的值超過 $1 個字元'],
  [
    /^(?:a list has|(?:the filter )?\S+ takes (?:a list|lists|texts) of) (?:more than|at most) (\d+) \w+$/,
    '清單或文字最多 $1 個項目或字元',
  ],

  // Pathways
  [/^a pathway needs one node of type start$/, '路徑必須有一個開始節點'],
  [/^a pathway has one start node[;,].*$/, '路徑只能有一個開始節點'],
  [/^the start node cannot be removed:.*$/, '開始節點不可移除'],
  [/^id (".*") is used by .*$/, '識別碼 $1 重複'],
  [/^tool (".*") is neither a tool of this project.*$/, '沒有工具 $1'],
  [
    /^a (\S+) node cannot use tools,.*$/,
    '這種節點無法使用工具，因為沒有模型在此說話；請移至對話節點或工具節點',
  ],
  [/^(?:source|target) (".*") is not a node of this pathway$/, '沒有節點 $1'],
  [/^source (".*") is an end node,.*$/, '結束節點 $1 不可有出去的連線'],
  [/^target (".*") is the start node,.*$/, '不可連到開始節點 $1'],
  [/^an edge from every node \(\*\) needs a condition;.*$/, '從任何節點出發的連線需要條件'],
  [/^an edge from every node \(\*\) goes before.*$/, '從任何節點出發的連線不可作為備用連線'],
  [/^a transfer node needs either to or targets$/, '轉接節點需要一個轉接對象'],
  [/^a pathway has at most (\d+) (?:nodes|edges)$/, '路徑最多 $1 個'],
  [
    /^the conversation leaves this node at once.*$/,
    '對話會立刻離開此節點；請移除它的無條件連線，或將這條連線移到下一個節點',
  ],
  [
    /^a transfer node only has the result of a failed transfer; set ok to false$/,
    '轉接節點只有失敗的結果；請將 ok 設為 false',
  ],
  [/^(\S+) ends the conversation when it succeeds.*$/, '$1 成功後對話即結束，請移除這條連線'],
  [/^this node does not call the tool (".*?");.*$/, '此節點沒有呼叫工具 $1；請加到節點的工具'],
  [/^a (\S+) node calls no tool;.*$/, '這種節點不呼叫工具；請將連線移到呼叫工具的節點'],
  [/^a (\S+) node transfers no call;.*$/, '這種節點不會轉接；請將連線移到轉接的節點'],

  // Calls
  [/^give either to, or targets$/, '轉接對象只能以一種方式設定'],
  [/^The pathway has no node (.+)$/, '$1'],
  [/^there is no test case (.+)$/, '$1'],
  [/^(\S+) and (\S+) exclude each other: give one of them$/, '$1 與 $2 只能有一個'],
  [/^only developer keys have scopes$/, '只有開發者金鑰有權限設定'],
  [
    /^value is not a regular expression that can be matched in linear time: (.*)$/,
    '這個規則運算式無法使用：$1',
  ],
  [/^The outbound status of fromNumber (\S+) is not active$/, '號碼 $1 不可撥出'],

  // What follows the text of a code
  [/^This key lacks the scopes? (?:that the new key would have: )?(.+)$/, '$1'],
  [/^The request body is not valid JSON$/, '格式錯誤'],
  [/^The request body has a key that is not allowed.*$/, '含有不可使用的名稱'],
  [/^A number is too large to be stored$/, '有一個數字太大'],
  [/^The (?:JSON Schema|regular).* takes more than (\d+) ms to check; make it simpler$/, '檢查超過 $1 毫秒'],
  [/^The pathway uses the tool, in: (.+); remove it there first$/, '$1'],
  [/^The trunk is used by (.+); remove it from their trunkIds first$/, '$1'],
  [/^This project has reached its quota (\w+) of (\d+);.*$/, '$1 最多 $2，系統管理員可以提高'],
  [/^The documents were embedded with (\S+),.*$/, '文件的嵌入模型是 $1，但這個服務沒有它的金鑰'],
  [/^The transfer failed: (.*)$/, '$1'],
  [/^The MCP server failed: (.*)$/, '$1'],
  [/^its answer does not follow the protocol$/, '回應不符合協定'],
  [/^template: (.*)$/, '$1'],
  [/^the file is not a WAV file$/, '不是 WAV 檔'],
  [/^The file is named like (.+), but holds (?!bytes)(.+)$/, '檔名是「{1}」，內容卻是「{2}」'],
  [
    /^The file is named like (.+), but holds bytes that no text has.*$/,
    '檔名是「{1}」，但內容不是文字；若是文字，請存成 UTF-8',
  ],
  [/^The file is empty$/, '檔案是空的'],
  [/^The file is protected by a password; save it without one$/, '檔案受密碼保護，請另存為沒有密碼的檔案'],
  [
    /^The file has an old Office format; save it as DOCX, PPTX or XLSX$/,
    '這是舊的 Office 格式，請另存為 DOCX、PPTX 或 XLSX',
  ],
  [
    /^The file has a format of Office or OpenDocument that is not read; save it as DOCX, PPTX or XLSX$/,
    '無法讀取這種 Office 或 OpenDocument 格式，請另存為 DOCX、PPTX 或 XLSX',
  ],
  [/^The file is Rich Text.*$/, '無法讀取 RTF，請另存為 DOCX'],
  [/^The file is of no supported type; send (.+) or plain text$/, '請上傳 $1 或純文字'],
  [/^The file is cut off: its end is missing; upload it again$/, '檔案不完整，請重新上傳'],
  [/^The file is an archive, but no DOCX, PPTX or XLSX; send its files$/, '這是壓縮檔，請上傳其中的檔案'],
];

/** Of templates, as their parser tells them. */
const TEMPLATE_ERRORS: readonly Phrase[] = [
  [/^output (.*) not closed$/s, '輸出 $1 沒有結尾'],
  [/^tag (.*) not closed$/s, '標籤 $1 沒有結尾'],
  [/^\[ not closed$/, '[ 沒有結尾'],
  [/^tag (".*") not found$/, '沒有標籤 $1'],
  [/^undefined filter: (.*)$/, '沒有過濾器 $1'],
  [/^illegal tag syntax, tag name expected$/, '缺少標籤的名稱'],
  [/^illegal tag: (.*)$/s, '標籤 $1 的寫法有誤'],
  [/^invalid value expression: (.*)$/s, '值的寫法有誤：$1'],
  [/^invalid range syntax$/, '範圍的寫法有誤'],
  [/^unbalanced parentheses$/, '括號沒有成對'],
  [/^unexpected (?:token|character) (.*?)(?:, value expected)?$/s, '此處不應有 $1'],
  [/^expected "(.*)" before filter$/, '過濾器之前缺少 $1'],
  [/^expected filter name$/, '缺少過濾器的名稱'],
  [/^expected variable name$/, '缺少變數的名稱'],
  [/^expected "="$/, '缺少 ='],
  [/^duplicated else$/, 'else 重複了'],
  [/^unexpected elsif after else$/, 'else 之後不可有 elsif'],
];
const IN_TEMPLATE = /^(?:template: )?(.*), line:(\d+), col:(\d+)$/s;

const KNOWN_WORDS = Object.keys(WORDS).toSorted((a, b) => b.length - a.length);
const WORD_OR_QUOTED = new RegExp(`"(?:[^"\\\\]|\\\\.)*"|${KNOWN_WORDS.join('|')}|, or |, | or `, 'g');

/** What the API says of a request, in Chinese; as it is where its text is not known here. */
export function messageTextZh(message: string): string {
  const [, problem, line, column] = IN_TEMPLATE.exec(message) ?? [];
  if (problem !== undefined)
    return `${phraseIn(TEMPLATE_ERRORS, problem) ?? problem}（第 ${line} 行，第 ${column} 字）`;
  const sentence = phraseIn(SENTENCES, message, wordsZh);
  if (sentence !== undefined) return sentence;
  const [, name = '', colon = '', rest = ''] = /^([^\s:]+)(:?) (.+)$/s.exec(message) ?? [];
  if (colon) {
    const text = messageTextZh(rest);
    return text === rest ? message : `${nameZh(name)}：${text}`;
  }
  const text = phraseIn(FIELD_PHRASES, rest, wordsZh);
  return text === undefined ? message : `${nameZh(name)}${text}`.replace(/(?<=^[!-~]+)(?=[^!-~])/, ' ');
}

/** A field's name, as its label has it: `timezone`, `tools[0]`, or `synthesis.voice`. */
function nameZh(name: string): string {
  return name.replaceAll(/[A-Za-z]\w*/g, (word) => ZH_NAMES[word] ?? word);
}

/** Such as `a string, an array or null`. Values are in quotes, and stay. */
function wordsZh(part: string): string {
  const text = part.replaceAll(WORD_OR_QUOTED, (word) => {
    if (word === ', ') return '、';
    return word.endsWith('or ') ? '或' : (WORDS[word] ?? word);
  });
  // Chinese has a space beside letters, digits and quotes alone.
  return text.replaceAll(/(?<=^|或)(?=[!-~])|(?<=[!-~])(?=或)/g, ' ');
}
