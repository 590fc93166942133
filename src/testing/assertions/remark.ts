/** Languages of reports, by how browsers name them. The first one is the default, and that of the API. */
export const REPORT_LOCALES = ['en', 'zh-TW'] as const;
export type ReportLocale = (typeof REPORT_LOCALES)[number];

/** The service's words about assertions and plays; `{0}` and `{1}` stand for values. */
const REMARKS = {
  not_said: { en: 'the agent did not say “{0}”', 'zh-TW': '代理沒有說「{0}」' },
  said: { en: 'the agent said “{0}”', 'zh-TW': '代理說了「{0}」' },
  first_not_said: { en: '“{0}” was not said', 'zh-TW': '沒有說「{0}」' },
  next_not_said: {
    en: '“{0}” was not said after the ones before it',
    'zh-TW': '在前面的話之後沒有說「{0}」',
  },
  not_called: { en: '{0} was not called', 'zh-TW': '未呼叫 {0}' },
  other_arguments: { en: 'it was called with others', 'zh-TW': '以其他引數呼叫了工具' },
  silent: { en: 'the agent said nothing', 'zh-TW': '代理沒有說話' },
  not_interrupted: { en: 'the agent was not interrupted', 'zh-TW': '代理沒有被打斷' },
  no_verdict: { en: 'The model gave no verdict.', 'zh-TW': '模型沒有作出判定。' },
  votes: { en: '{0} of {1} in favor', 'zh-TW': '{1} 票中有 {0} 票贊成' },
  answered: { en: 'A person answered', 'zh-TW': '有人接聽' },
  opt_out: { en: 'A person asked for no more calls', 'zh-TW': '接聽者要求不再來電' },
  machine: { en: 'An answering machine answered', 'zh-TW': '答錄機接聽' },
  no_call: { en: 'No call was placed', 'zh-TW': '未撥出電話' },
  canceled: { en: 'The run was canceled', 'zh-TW': '測試執行已取消' },
  internal_error: { en: 'Internal error', 'zh-TW': '服務發生內部錯誤' },
  timeout: { en: 'It took longer than {0} minutes', 'zh-TW': '執行超過 {0} 分鐘' },
  refused: {
    en: 'The simulated caller’s call was not answered: {0}',
    'zh-TW': '模擬來電未被接聽：{0}',
  },
} as const satisfies Record<string, Readonly<Record<ReportLocale, string>>>;

/** What the service says about an assertion or a play. A text is what a model or another part has said. */
export type Remark = string | { readonly code: keyof typeof REMARKS; readonly values: readonly string[] };

export function remark(code: keyof typeof REMARKS, ...values: readonly string[]): Remark {
  return { code, values };
}

export function remarkText(said: Remark, locale: ReportLocale = 'en'): string {
  if (typeof said === 'string') return said;
  return REMARKS[said.code][locale].replace(/\{(\d)\}/g, (_, index) => said.values[Number(index)] ?? '');
}
