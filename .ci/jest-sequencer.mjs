import TestSequencer from '@jest/test-sequencer'

/** Kinds of tests, those first whose files take longest: so that no worker is left with a long one at the end. */
const kinds = ['crash', 'docs', 'attack', 'golden', 'property', 'int', 'unit']

const kindOf = ({ path }) => kinds.findIndex((kind) => path.includes(`/dist/test/${kind}/`))

/** Orders files by kind, and within a kind as Jest does: the longest first when it knows, else the largest. */
export default class ByKind extends TestSequencer {
  sort(tests) {
    return super.sort(tests).sort((a, b) => kindOf(a) - kindOf(b))
  }
}
