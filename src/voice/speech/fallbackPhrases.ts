/** What the agent says when the pathway has no words for it. */
export interface FallbackPhrases {
  readonly stillThere: string;
  readonly goodbye: string;
  readonly pardon: string;
  /** When nothing is recognised at all. */
  readonly useKeys: string;
  readonly moment: string;
  readonly apology: string;
  /** When the line to the agent was broken for a moment. */
  readonly backAgain: string;
  /** When nobody answered whom the caller was to be connected with. */
  readonly notConnected: string;
}

const PHRASES: Readonly<Record<string, FallbackPhrases>> = {
  en: {
    stillThere: 'Are you still there?',
    goodbye: 'I cannot hear you. Goodbye.',
    pardon: 'Sorry, I did not catch that. Could you say it again?',
    useKeys: 'Sorry, I cannot understand you at the moment. You can use the keys of your phone.',
    moment: 'One moment, please.',
    apology: 'I am sorry, something is not working on our side. Please call again later. Goodbye.',
    backAgain: 'Sorry, I lost you for a moment. Please go on.',
    notConnected: 'I am sorry, I could not reach anyone there. What else can I do for you?',
  },
  zh: {
    stillThere: '請問您還在嗎？',
    goodbye: '我聽不到您的聲音，先掛斷了，再見。',
    pardon: '不好意思，我沒聽清楚，可以請您再說一次嗎？',
    useKeys: '不好意思，目前無法辨識您的語音，請改用電話按鍵。',
    moment: '請稍等一下。',
    apology: '很抱歉，系統目前發生問題，請您稍後再撥，再見。',
    backAgain: '不好意思，剛剛斷線了一下，請您繼續說。',
    notConnected: '不好意思，對方目前無法接聽，請問還有什麼可以幫您的嗎？',
  },
  es: {
    stillThere: '¿Sigue ahí?',
    goodbye: 'No le oigo. Hasta luego.',
    pardon: 'Perdone, no le he entendido. ¿Puede repetirlo?',
    useKeys: 'Perdone, ahora mismo no puedo entenderle. Puede usar las teclas del teléfono.',
    moment: 'Un momento, por favor.',
    apology: 'Lo siento, algo no funciona en nuestro lado. Por favor, llame más tarde. Hasta luego.',
    backAgain: 'Perdone, le he perdido un momento. Continúe, por favor.',
    notConnected: 'Lo siento, no contesta nadie allí. ¿Qué más puedo hacer por usted?',
  },
  fr: {
    stillThere: 'Êtes-vous toujours là ?',
    goodbye: 'Je ne vous entends pas. Au revoir.',
    pardon: 'Pardon, je n’ai pas compris. Pouvez-vous répéter ?',
    useKeys: 'Pardon, je ne peux pas vous comprendre pour le moment. Utilisez les touches du téléphone.',
    moment: 'Un instant, s’il vous plaît.',
    apology: 'Je suis désolé, nous avons un problème technique. Veuillez rappeler plus tard. Au revoir.',
    backAgain: 'Pardon, je vous ai perdu un instant. Continuez, s’il vous plaît.',
    notConnected: 'Je suis désolé, personne ne répond. Que puis-je faire d’autre pour vous ?',
  },
  de: {
    stillThere: 'Sind Sie noch da?',
    goodbye: 'Ich höre Sie nicht. Auf Wiederhören.',
    pardon: 'Entschuldigung, das habe ich nicht verstanden. Können Sie es wiederholen?',
    useKeys:
      'Entschuldigung, ich kann Sie gerade nicht verstehen. Sie können die Tasten Ihres Telefons benutzen.',
    moment: 'Einen Moment, bitte.',
    apology: 'Es tut mir leid, bei uns funktioniert etwas nicht. Bitte rufen Sie später an. Auf Wiederhören.',
    backAgain: 'Entschuldigung, die Verbindung war kurz weg. Bitte sprechen Sie weiter.',
    notConnected: 'Es tut mir leid, dort ist niemand zu erreichen. Was kann ich sonst für Sie tun?',
  },
};

/** @param language - A tag such as `zh-TW`; English for languages without phrases. */
export function fallbackPhrasesOf(language: string | undefined): FallbackPhrases {
  const english = PHRASES.en as FallbackPhrases;
  return PHRASES[language?.toLowerCase().split('-')[0] ?? 'en'] ?? english;
}
