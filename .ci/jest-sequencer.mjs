import TestSequencer from '@jest/test-sequencer'

/** Kinds of tests. The kinds with the longest files come first, so that no worker has a long file left at the end. */
const kinds = ['crash', 'docs', 'attack', 'golden', 'property', 'int', 'unit']

const kindOf = ({ path }) => kinds.findIndex((kind) => path.includes(`/dist/test/${kind}/`))

/** Orders files by kind, and within a kind as Jest does: the longest file first if its time is known, else the largest. */
export default class ByKind extends TestSequencer {
  sort(tests) {
    return super.sort(tests).sort((a, b) => kindOf(a) - kindOf(b))
  }
}
