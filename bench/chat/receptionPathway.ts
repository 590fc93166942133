/** The pathway of a clinic's reception, written before any model answered it. */

const step = (id: string, title: string, type = 'conversation') => ({
  id,
  type,
  data: { title, prompt: `You are at: ${title}. Help the person with it.` },
});
const way = (id: string, source: string, target: string, condition: string) => ({
  id,
  source,
  target,
  data: { condition },
});

export const RECEPTION = {
  nodes: [
    step('start', 'Greeting', 'start'),
    step('booking', 'Book an appointment'),
    step('cancelling', 'Cancel an appointment'),
    step('prices', 'Costs of treatments'),
    step('hours', 'Opening hours'),
    step('emergency', 'Pain and emergencies'),
    step('billing', 'Bills'),
    step('day', 'Find a day'),
    step('new-patient', 'Take up a new patient'),
    step('refund', 'Refunds'),
    step('first-aid', 'First aid'),
    step('person', 'Hand over to a human'),
    step('bye', 'Farewell'),
  ],
  edges: [
    way('wants-booking', 'start', 'booking', 'The person wants to book an appointment.'),
    way('wants-cancel', 'start', 'cancelling', 'The person wants to cancel.'),
    way('wants-price', 'start', 'prices', 'The person asks what a treatment will cost.'),
    way('wants-hours', 'start', 'hours', 'The person asks when the clinic is open.'),
    way('is-hurt', 'start', 'emergency', 'The person is in pain.'),
    way('has-bill', 'start', 'billing', 'The person has a question about a bill.'),
    way('wants-human', 'start', 'person', 'The person wants to talk to a human.'),
    way('says-bye', 'start', 'bye', 'The person says goodbye.'),
    way(
      'names-day',
      'booking',
      'day',
      'The person names a day of the week: Monday, Tuesday, Wednesday, Thursday, Friday.',
    ),
    way('is-new', 'booking', 'new-patient', 'The person is new and has never been here before.'),
    way('paid-twice', 'billing', 'refund', 'The person paid twice and wants money back.'),
    way('bill-human', 'billing', 'person', 'The person wants to talk to a human.'),
    way('is-bleeding', 'emergency', 'first-aid', 'The person is bleeding, or a tooth was knocked out.'),
    way('emergency-booking', 'emergency', 'booking', 'The person wants to book an appointment today.'),
  ],
};

/** One turn whose right next node is known. */
export interface KnownTurn {
  /** Words that lead to the node where the turn starts; absent for the start node. */
  readonly before?: string;
  readonly said: string;
  /** The right node after the turn. */
  readonly node: string;
}

const BOOK = 'I want to book an appointment.';
const BILL = 'I have a question about a bill.';
const PAIN = 'I am in pain.';

export const KNOWN_TURNS: readonly KnownTurn[] = [
  { said: 'I would like to book an appointment', node: 'booking' },
  { said: 'Can I schedule a visit?', node: 'booking' },
  { said: 'Could you arrange a checkup for my son', node: 'booking' },
  { said: 'I need an appointment', node: 'booking' },
  { said: 'Please cancel it', node: 'cancelling' },
  { said: 'I have to cancel my appointment', node: 'cancelling' },
  { said: 'I am cancelling tomorrow', node: 'cancelling' },
  { said: 'What does a filling cost?', node: 'prices' },
  { said: 'What are your prices', node: 'prices' },
  { said: 'Is a crown expensive?', node: 'prices' },
  { said: 'How much do you charge for a treatment', node: 'prices' },
  { said: 'Are you open on Saturday?', node: 'hours' },
  { said: 'What are your opening hours', node: 'hours' },
  { said: 'When do you close today', node: 'hours' },
  { said: 'My tooth hurts', node: 'emergency' },
  { said: 'I am in terrible pain', node: 'emergency' },
  { said: 'I have an awful toothache since yesterday', node: 'emergency' },
  { said: 'It aches when I chew', node: 'emergency' },
  { said: 'There is a mistake in my bill', node: 'billing' },
  { said: 'I got an invoice that I do not understand', node: 'billing' },
  { said: 'Let me talk to a human', node: 'person' },
  { said: 'Is there a receptionist I can speak with', node: 'person' },
  { said: 'Goodbye', node: 'bye' },
  { said: 'Okay bye then', node: 'bye' },
  { said: 'Good morning', node: 'start' },
  { said: 'The weather is lovely today', node: 'start' },
  { said: 'Hm, let me think', node: 'start' },
  { said: 'Do you have parking?', node: 'start' },
  { before: BOOK, said: 'Thursday would be fine', node: 'day' },
  { before: BOOK, said: 'Any time on Monday', node: 'day' },
  { before: BOOK, said: 'I have never been to your clinic', node: 'new-patient' },
  { before: BOOK, said: 'As soon as possible', node: 'booking' },
  { before: BILL, said: 'I paid twice', node: 'refund' },
  { before: BILL, said: 'I want my money back', node: 'refund' },
  { before: BILL, said: 'Give me a human', node: 'person' },
  { before: BILL, said: 'The number is 4711', node: 'billing' },
  { before: PAIN, said: 'It is bleeding badly', node: 'first-aid' },
  { before: PAIN, said: 'My tooth was knocked out', node: 'first-aid' },
  { before: PAIN, said: 'Can I reserve a slot today', node: 'booking' },
  { before: PAIN, said: 'Since two days', node: 'emergency' },
];
