/**
 * By code. `{}` is the first name in quotes of the API's message, `{provider}` its first word; behind a colon the message
 * follows.
 */
const TEXTS: Readonly<Record<string, string>> = {
  no_start_node: '路徑沒有開始節點。',
  several_start_nodes: '路徑只能有一個開始節點。',
  duplicate_id: '識別碼重複：{}',
  duplicate_tool: '同一個工具列了兩次。',
  unknown_node: '沒有節點 {}。',
  unknown_tool: '沒有工具 {}。',
  edge_into_start: '不可連到開始節點。',
  edge_out_of_end: '結束節點不可有出去的連線。',
  global_edge_without_condition: '從任何節點出發的連線需要條件。',
  global_fallback_edge: '從任何節點出發的連線不可作為備用連線。',
  template_error: '範本有誤：',
  expression_error: '運算式有誤：',
  invalid_field: '欄位有誤：',
  unusable_tools: '這種節點無法使用工具，因為沒有模型在此說話；請移除工具，或移至對話節點或工具節點。',
  no_end_node: '沒有節點會結束對話；請加上結束節點，或在節點加上工具 end_call。',
  no_end_reachable: '從開始節點無法到達會結束對話的節點。',
  unreachable_node: '從開始節點無法到達 {}。',
  returns_without_global_edge: '沒有從任何節點到 {} 的連線，因此「之後回到原處」不起作用。',
  nothing_to_say: '{} 沒有要說的文字，請加上提示詞。',
  dead_end: '對話會停在 {}，請加上出去的連線。',
  no_default_edge: '沒有條件成立時，對話會停在 {}，請加上備用連線。',
  event_never_raised: '這條連線等待的事件不會在此節點發生：',
  silence_behind_shorter: '連線 {} 等待的沉默較短，會先被採用；請移除其中一條。',
  transfer_without_failure_edge: '{} 沒有處理轉接失敗的連線；失敗後來電者會停在這裡。',
  transfer_option_unused: '轉接的設定沒有作用：',
  transfer_target_forbidden: '專案的通話限制不允許撥打 {}，因此轉接會失敗。',
  wrong_arguments: '{} 的工具引數不正確。',
  vanished_tool: '{} 使用的工具已不在其 MCP 伺服器上。',
  condition_never_true: '這個條件永遠不成立。',
  duplicate_condition: '連線 {} 有相同的條件，且會先被檢查。',
  several_unconditional_edges: '連線 {} 也沒有條件，且會先被採用；請為其中一條加上條件。',
  edge_behind_unconditional: '連線 {} 總是先被採用，因此不會走這條連線；請將 {} 設為備用連線，或加上條件。',
  must_hear_line_cut: '{} 必須聽完，但它之前的話可以被打斷，屆時來電者聽不到它。',
  loop_without_turn: '{} 可能會重複而不等待來電者；請確認工具的結果會結束迴圈。',
  endless_loop: '{} 會無止盡地重複，因為其中沒有節點等待來電者；請在中間加上對話節點。',
  cycle_without_exit: '對話無法離開 {}；請加上到結束節點的連線，或工具 end_call。',
  unknown_variable: '沒有任何地方設定變數 {}；除非工作階段一開始就有，否則是空的。',
  required_variable_not_asked: '沒有步驟詢問必要的變數 {}，因此會在最後才問。',
  provider_without_credentials: '供應商 {provider} 沒有金鑰；請在設定中儲存金鑰。',
  wrong_option: '供應商的選項有誤：',
  keyterms_ignored: '供應商 {provider} 不接受 keyterms，因此沒有作用。',
  voice_missing: '{provider} 沒有自己的聲音；請加到 voices。',
  language_not_told: '供應商 {provider} 無法判斷使用的語言，因此對話會維持同一種語言。',
  language_not_heard: '{provider} 聽得懂的語言不包含這裡設定的語言。',
};

/** What the review says; as the API says it where its code is not known here. */
export async function findingTextZh(code: string, message: string): Promise<string> {
  const name = /"(?:[^"\\]|\\.)*"/.exec(message)?.[0] ?? '';
  const provider = message.split(' ', 1)[0] ?? '';
  const text = TEXTS[code]?.replaceAll('{}', () => name).replaceAll('{provider}', () => provider);
  if (!text?.endsWith('：')) return text ?? message;
  const { messageTextZh } = await import('../../../api/messageTextsZh.ts');
  return text + messageTextZh(message);
}
