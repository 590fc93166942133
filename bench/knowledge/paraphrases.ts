/** A passage of six sentences, and questions that paraphrase one of them each. */
export interface Paraphrased {
  readonly passage: string;
  readonly questions: readonly string[];
}

export const PARAPHRASED: readonly Paraphrased[] = [
  {
    passage:
      'Breakfast is served from seven to ten in the garden room. Guests may bring one small dog for a fee of ten euros. Parking is free behind the house. The sauna on the top floor closes at nine in the evening. Towels for the pool are at the front desk. Late check-out until two costs half a night.',
    questions: [
      'Where can I leave my car?',
      'Are pets allowed?',
      'When do I get something to eat in the morning?',
      'Can I stay in the room longer on the last day?',
    ],
  },
  {
    passage:
      'The warranty of every kettle lasts three years. An article arrives within five working days. Unused goods can be sent back within thirty days. We accept credit cards and bank transfers. Spare lids are sold separately. The manual is on our website as a PDF.',
    questions: [
      'How long is the guarantee?',
      'How fast do you ship?',
      'How can I pay?',
      'Where do I find the instructions?',
    ],
  },
  {
    passage:
      'Doctor Lin sees patients from Monday to Thursday. Please come ten minutes before your first appointment to fill in a form. Cleanings are covered by the public insurance once a year. We cannot remove wisdom teeth here and refer you to the hospital. Children under six are treated in the morning only. If you cannot come, cancel at least a day before.',
    questions: [
      'Which days does the dentist work?',
      'What if I have to miss my visit?',
      'Do I have to arrive early?',
      'At what time do you treat small kids?',
    ],
  },
  {
    passage:
      'The basic tariff has five gigabytes of data a month. Calls to other countries cost nine cents a minute. You can keep your old phone number when you change to us. The contract ends with one month of notice. A lost SIM card is blocked at once and replaced for five euros. Invoices are sent by email on the third of each month.',
    questions: [
      'How do I terminate my contract?',
      'My chip was stolen, what now?',
      'When do I receive the bill?',
      'What does it cost to phone abroad?',
    ],
  },
  {
    passage:
      'The library lends books for four weeks. Each further week costs one euro for a book. Students pay nothing for the yearly card. There are twenty desks with computers on the second floor. Eating is allowed in the cafeteria only. A book that another reader waits for cannot be extended.',
    questions: [
      'How long may I keep a novel?',
      'What is the fine when I am late?',
      'May I have a sandwich inside?',
      'Can I use a PC there?',
    ],
  },
  {
    passage:
      'Lessons for beginners start every first Monday of the month. A course has at most eight participants. Helmets and boots can be rented at the stable. Riders may weigh up to ninety kilograms. In rain the lesson is moved to the hall. Vouchers are valid for two years.',
    questions: [
      'What happens in bad weather?',
      'How big are the groups?',
      'Do I need my own equipment?',
      'When does my gift card expire?',
    ],
  },
  {
    passage:
      'To set a new password, open your account and choose Security. Files up to two gigabytes can be uploaded. Deleted files are kept for thirty days. A team has one administrator who invites the others. The app works without a connection and synchronizes later. Support answers in English and German.',
    questions: [
      'I forgot my login, what can I do?',
      'Can I restore something that I removed?',
      'Which languages does the helpdesk speak?',
      'Can I work offline?',
    ],
  },
  {
    passage:
      'Tables of more than ten guests are booked by phone only. The kitchen takes its last orders at half past nine. Vegan dishes are marked with a leaf. The terrace is open from May to September. We keep a reserved table for fifteen minutes. Corkage is twenty euros a bottle.',
    questions: [
      'How late can I still get food?',
      'Do you have something without meat and milk?',
      'May I bring my own wine?',
      'Can we sit outside in summer?',
    ],
  },
];

/** Questions that no passage answers. */
export const UNANSWERED: readonly string[] = [
  'Who won the football match yesterday?',
  'What is the capital of Peru?',
  'How tall is the Eiffel tower?',
  'Tell me a joke about lawyers.',
  'Is it going to snow tomorrow?',
  'How do I repair a bicycle chain?',
  'Which stocks should I buy?',
  'What is the square root of two?',
  'Who painted the Mona Lisa?',
  'How do bees make honey?',
  'What does a solicitor earn?',
  'Where was Mozart born?',
  'How do I tie a tie?',
  'What is the speed of light?',
  'Are there volcanoes in Iceland?',
  'When did the Roman Empire fall?',
];
