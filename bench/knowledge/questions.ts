export interface Question {
  /** What a search needs to answer it: the meaning, a name in the text, or Chinese words. */
  readonly group: 'meaning' | 'name' | 'Chinese';
  readonly question: string;
  readonly passage: string;
}

export const QUESTIONS: readonly Question[] = [
  [
    'meaning',
    'How long is the guarantee?',
    'The warranty of every kettle lasts three years from the day of purchase.',
  ],
  [
    'meaning',
    'Can I get my money back?',
    'We refund the price within ten days when an article is returned unused.',
  ],
  [
    'meaning',
    'When are you open?',
    'Our shop opens at nine in the morning and closes at six in the evening.',
  ],
  ['meaning', 'Do you ship abroad?', 'We deliver to all countries of Europe; delivery takes about a week.'],
  ['meaning', 'How can I pay?', 'We accept credit cards, bank transfers and cash on delivery.'],
  [
    'meaning',
    'My parcel is broken',
    'If an article arrives damaged, send us a photograph and we replace it free of charge.',
  ],
  [
    'meaning',
    'How do I change my password?',
    'To set a new password, open your account and choose Security.',
  ],
  [
    'meaning',
    'Who do I call at night?',
    'Outside business hours an emergency line answers all urgent requests.',
  ],
  [
    'meaning',
    'Is there a job for me?',
    'We are hiring drivers and cooks; applications go to our personnel office.',
  ],
  ['meaning', 'Where can I leave the car?', 'Visitors find parking spaces behind the building.'],
  ['name', 'XK-4821', 'Article XK-4821: lid, blue, out of stock until spring.'],
  ['name', 'What is error E17?', 'E17 is shown when the water tank is empty.'],
  ['name', 'ask for Mrs Wojciechowska', 'Accounting is led by Mrs Wojciechowska, room 214.'],
  ['name', 'tariff FLEX-90', 'The tariff FLEX-90 has ninety days of notice and no basic fee.'],
  ['name', 'order number 77120034', 'Order 77120034 was shipped on Monday from our store in the north.'],
  ['Chinese', '保固多久', '這個水壺的保固期是三年。'],
  ['Chinese', '怎麼退款', '退貨後十天內會將退款轉入您的帳戶。'],
  ['Chinese', '營業時間', '我們的營業時間是早上九點到晚上六點。'],
  ['Chinese', '停車場在哪裡', '停車場在大樓後面，訪客可以免費使用。'],
].map(([group, question, passage]) => ({ group, question, passage }) as Question);

/** Passages that answer none of the questions. */
export const UNRELATED: readonly string[] = [
  'Our company was founded in a garage by two sisters.',
  'The kettle is made of steel and holds two litres.',
  'Article XK-4900: handle, black, in stock.',
  'E18 is shown when the lid is open.',
  'The tariff BASIC-30 has thirty days of notice.',
  'Our newsletter comes out on the first of each month.',
  'Children under twelve travel free of charge.',
  'The garden is watered twice a week in summer.',
  'Please leave your coat in the cloakroom.',
  'The annual report is published in April.',
  'Coffee is served in the lobby from seven.',
  'The swimming pool is heated by the sun.',
  '我們的公司由兩姊妹創立。',
  '咖啡早上七點開始供應。',
  '年度報告在四月發表。',
];
