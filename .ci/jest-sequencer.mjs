import TestSequencer from '@jest/test-sequencer'

/** Kinds of tests whose files often wait: for a disk, for processes, for leases. */
const waiting = ['crash', 'docs', 'golden']

/** The other kinds. Those with the longest files come first, so that no worker has a long file left at the end. */
const busy = ['attack', 'property', 'int', 'unit']

/** The part of the order over which the files that wait are spread: beside each of them, others keep the processors busy. */
const spread = 0.6

const rankIn = (kinds, { path }) => kinds.findIndex((kind) => path.includes(`/dist/test/${kind}/`))

/** Within a kind the order is Jest's: the longest file first if its time is known, else the largest. */
export default class MixedKinds extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests)
    const ranked = (kinds, found) => found.sort((a, b) => rankIn(kinds, a) - rankIn(kinds, b))
    const waits = ranked(
      waiting,
      sorted.filter((test) => rankIn(waiting, test) >= 0),
    )
    const works = ranked(
      busy,
      sorted.filter((test) => rankIn(waiting, test) < 0),
    )
    const distance = (works.length * spread) / waits.length
    const places = new Map([...waits.map((test, i) => [test, i * distance]), ...works.map((test, i) => [test, i])])
    return [...places.keys()].sort((a, b) => places.get(a) - places.get(b))
  }
}
