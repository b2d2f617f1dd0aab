import type { Note } from './lists.js'

/**
 * Short notes as a household, a shop or an office keeps them, each with a question in other words. Several notes have nearly the same
 * subject.
 */
export const notes: readonly Note[] = [
  [
    'The washing machine shakes when its load is uneven. Spread the clothes by hand and start the spin again.',
    'Why does my laundry appliance jump around at the end of the programme?',
  ],
  [
    'The washing machine asks for its lint filter to be cleaned every three months. Put a towel below the flap, as water runs out.',
    'How often must I remove fluff from the appliance that does the laundry?',
  ],
  [
    'The tumble dryer stops when its water container is full. Empty it after each run.',
    'Clothes are still damp and the drying stopped early: what should I look at?',
  ],
  [
    'The fridge is too warm if its door does not close tightly. Wash the seal with soap and warm it with a hair dryer.',
    'Milk goes sour quickly because the cooler is not cold enough',
  ],
  [
    'Ice builds up in the freezer within half a year. Take everything out, pull the plug and let it thaw overnight.',
    'How do I get rid of the frost that narrows the drawers?',
  ],
  [
    'Descale the kettle with a cup of vinegar in a litre of water. Boil it, wait an hour, and rinse twice.',
    'White crust at the bottom of the pot for tea water',
  ],
  ['The coffee grinder jams on oily beans. Unplug it and brush the burrs.', 'The mill for espresso got stuck'],
  [
    'Sourdough needs feeding every day at room temperature, once a week in the fridge.',
    'How frequently does my bread starter have to get flour and water?',
  ],
  ['Yeast dough rises in an hour at 27 degrees, and overnight in a cold room.', 'How long until the pizza base has doubled in size?'],
  ['Rice takes twice its volume of water, and twelve minutes under a lid.', 'What ratio of liquid do I take for the grains?'],
  [
    'Tomatoes are pruned in June: break out the shoots between stem and leaf.',
    'Which side growth should I pinch off on my vegetable plants in early summer?',
  ],
  [
    'Roses are cut back when the forsythia blooms, to three or five buds.',
    'When is the right moment in spring to shorten the thorny shrubs?',
  ],
  ['Orchids are dipped into water once a week and never stand wet.', 'How much should I water the exotic flower on the window sill?'],
  ['Slugs stay away from copper tape around the pot.', 'How do I keep snails off my seedlings without poison?'],
  ['Employees send their sick note to the office by the third day of absence.', 'When is a doctor’s certificate due if I am ill?'],
  ['Vacation is requested two weeks ahead, and the head of the team approves it.', 'How early do I have to ask for days off?'],
  [
    'Costs of a journey are refunded when receipts are handed in within thirty days.',
    'Until when can I get back what I paid for hotel and train on a business trip?',
  ],
  ['Parents may reduce their hours to half until the child is three years old.', 'Can I work part time after having a baby?'],
  [
    'Whoever changes the bank account for the salary tells the payroll department by the tenth of the month.',
    'My wages should go to another bank: who needs to know, and when?',
  ],
  ['Badges that were lost are blocked at the reception at once, day or night.', 'I cannot find my key card for the building'],
  ['A parcel may be sent back within thirty days if it is unopened.', 'I ordered the wrong thing: how long can I return it?'],
  ['Damaged goods are exchanged for free. A photo of the box is needed.', 'What I ordered arrived broken'],
  ['Orders above fifty euros are shipped without a fee.', 'From what amount is delivery free?'],
  ['Vouchers cannot be paid out in cash and expire after three years.', 'Can I get money for my gift card?'],
  ['An invoice is due fourteen days after its date; a reminder costs five euros.', 'How much time do I have to pay the bill?'],
  [
    'The router restarts when its button on the back is held for four seconds; with ten seconds it loses all settings.',
    'How do I reboot the internet box without wiping its configuration?',
  ],
  ['The printer shows grey stripes when its drum is worn; a new one lasts twelve thousand pages.', 'My printouts have dark bands on them'],
  [
    'The telephone system forwards calls to a mobile with star twenty-one and the number.',
    'How can I have my desk line ring on my smartphone?',
  ],
  ['A forgotten password is reset by the link below the login, which is valid for an hour.', 'I do not remember how to sign in'],
  ['Backups of the office server run at two at night and are kept for ninety days.', 'I deleted a file last month: is there still a copy?'],
].map(([text = '', question = ''], i) => ({ id: `n${i + 1}`, text, question }))
